#pragma once
// What commands need libtorch for.
//
// Loading libtorch takes half a second, and some of its parts must be told about the processor
// before they are loaded (base/processor.h). So there are two programs from the same declarations:
// `cplearn`, the front, answers at once where no torch is needed, and otherwise becomes
// `cplearn-engine`, which parses the same command line again and runs it.

#include <string>

#include "cli/arguments.h"
#include "cli/command.h"

namespace cpl::cli {

// Each runs a command and returns its exit code.
struct Engine {
  int (*train)(const TrainArguments& arguments, const Common& common);
  int (*eval)(const EvalArguments& arguments, const Common& common);
  int (*diagnose)(const DiagnoseArguments& arguments, const Common& common);
  int (*embed)(const EmbedArguments& arguments, const Common& common);
  int (*cluster)(const ClusterArguments& arguments, const Common& common);
  int (*data)(const DataArguments& arguments, const Common& common);
  int (*reproduce)(const ReproduceArguments& arguments, const Common& common);
  int (*gauntlet)(const GauntletArguments& arguments, const Common& common);
  int (*theory)(const TheoryArguments& arguments, const Common& common);
  int (*dictionary)(const DictionaryArguments& arguments, const Common& common);
  int (*bench_head)(const BenchHeadArguments& arguments, const Common& common);
  int (*bench_train)(const BenchTrainArguments& arguments, const Common& common);
  int (*bench_data)(const BenchDataArguments& arguments, const Common& common);
  int (*bench_embed)(const BenchEmbedArguments& arguments, const Common& common);

  // As `cplearn diagnose` does: diagnosis.json and gallery.json of a run, with progress.
  void (*write_diagnosis)(const std::string& run, const Common& common);
};

// In the front this does not return: the process becomes the engine. Say nothing before, or it is
// said twice.
const Engine& engine();

// Before a command runs: threads, instruction set.
void prepare(const Common& common);

}  // namespace cpl::cli
