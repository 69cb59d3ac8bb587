// cplearn eval: what the codes and the representations know about classes, beside what is to be
// beaten.

#include "cli/engine/commands.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/study/evaluation.h"

namespace cpl::cli {

int run_eval(const EvalArguments& o, const Common& common) {
  const Json result = evaluate_run(o.run, o.evaluation, common.seed, common.progress());
  TextTable table({"", "linear", "kNN", "k-means AMI", "k-means acc.", "codes: AMI", "NMI",
                   "(chance)", "codes used"});
  const auto add = [&](const char* name, const Json& scores) {
    std::vector<std::string> row = {name};
    for (const char* key : {"linear_top1", "knn_top1", "kmeans_ami", "cluster_accuracy", "ami",
                            "nmi", "nmi_chance", "codes_used"})
      row.push_back(scores.contains(key) ? readable(scores[key].get<double>()) : "-");
    table.add(row);
  };
  add("trained", result);
  if (o.evaluation.baselines) {
    add("untrained encoder", result["untrained"]);
    add("pixels", result["pixels"]);
  }
  common.say() << o.run << ", step " << result["step"] << "; probe on " << printable(result["data"])
               << " (" << result["n_train"] << "), scores on " << printable(result["test"]) << " ("
               << result["n_test"] << " images, " << result["classes"] << " classes)\n\n"
               << table.str() << "\nlinear: " << result["probe"].get<std::string>()
               << ". Batch norm: " << result["batch_norm"].get<std::string>()
               << ". kNN: 20 neighbours, cosine. k-means: on embeddings, k = " << result["classes"]
               << ".\nNMI grows with the number of codes by chance alone; AMI is corrected for "
                  "it.\n";
  common.result(result);
  return kSuccess;
}

}  // namespace cpl::cli
