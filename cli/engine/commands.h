#pragma once
// The rows of the engine's table (cli/engine.h), one source each.

#include "cli/engine.h"

namespace cpl::cli {

int run_train(const TrainArguments& arguments, const Common& common);
int run_eval(const EvalArguments& arguments, const Common& common);
int run_diagnose(const DiagnoseArguments& arguments, const Common& common);
int run_embed(const EmbedArguments& arguments, const Common& common);
int run_cluster(const ClusterArguments& arguments, const Common& common);
int run_data(const DataArguments& arguments, const Common& common);
int run_reproduce(const ReproduceArguments& arguments, const Common& common);
int run_gauntlet(const GauntletArguments& arguments, const Common& common);
int run_theory(const TheoryArguments& arguments, const Common& common);
int run_dictionary(const DictionaryArguments& arguments, const Common& common);
int run_bench_head(const BenchHeadArguments& arguments, const Common& common);
int run_bench_train(const BenchTrainArguments& arguments, const Common& common);
int run_bench_data(const BenchDataArguments& arguments, const Common& common);
int run_bench_embed(const BenchEmbedArguments& arguments, const Common& common);
void write_diagnosis(const std::string& run, const Common& common);

}  // namespace cpl::cli
