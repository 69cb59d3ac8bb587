#include "cplearn/train/run.h"

#include <sys/stat.h>
#include <torch/torch.h>

#include "cplearn/base/file.h"

namespace cpl {

std::shared_ptr<Method> make_network(const TrainOptions& options) {
  torch::manual_seed(options.seed);
  const BackboneOptions backbone = resolve_backbone(options);
  return make_method(
      options.method, [&] { return make_backbone(options.backbone, backbone); },
      resolve_method(options));
}

Run open_run(const std::string& path) {
  struct stat status;
  CPL_CHECK(::stat(path.c_str(), &status) == 0, "there is no run at ", path,
            ": give the directory that 'cplearn train' printed");
  const std::string file = S_ISDIR(status.st_mode) ? RunFiles(path).checkpoint() : path;
  CPL_CHECK(file_exists(file), path,
            " has no checkpoint yet: it is not a run, or 'cplearn train "
            "--resume ",
            path, "' must train it first");
  const Checkpoint checkpoint = load_checkpoint(file);
  Run run;
  run.options = parse_run_config(checkpoint.config, file).train;
  run.method = make_network(run.options);
  run.step = checkpoint.step;
  copy_tensors(with_prefix(checkpoint.tensors, "method."), module_state(*run.method));
  run.method->eval();
  run.views = evaluation_views(resolve_image_size(run.options),
                               find_normalisation(checkpoint.normalisation));
  return run;
}

}  // namespace cpl
