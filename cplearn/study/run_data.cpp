#include "cplearn/study/run_data.h"

#include "cplearn/data/spec.h"

namespace cpl {

RunData open_run_data(const Run& run, const std::string& spec, std::int64_t most) {
  DatasetOptions options;
  options.seed = run.options.seed;  // `#N` picks the same images as in training
  options.decode.min_side = decode_side(run.views);
  RunData data;
  data.spec = spec.empty() ? run.options.data : spec;
  data.images = open_dataset(data.spec, options);
  if (most > 0 && data.images->size() > static_cast<std::size_t>(most)) {
    const bool cut = parse_spec(data.spec).first > 0;
    const std::string all = cut ? data.spec.substr(0, data.spec.rfind('#')) : data.spec;
    data.images = open_dataset(str(all, "#", most), options);
  }
  return data;
}

std::unique_ptr<Dataset> open_as_in_training(const Run& run, const std::string& spec) {
  DatasetOptions options;
  options.seed = run.options.seed;
  options.decode.min_side = decode_side(resolve_augment(run.options, RecipeOptions().statistics));
  return open_dataset(spec, options);
}

}  // namespace cpl
