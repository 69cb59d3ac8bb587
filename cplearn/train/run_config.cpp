#include "cplearn/train/run_config.h"

#include "cplearn/base/config.h"

namespace cpl {
namespace {

// TrainOptions and SessionOptions as one list.
struct Everything {
  RunConfig& config;

  template <class Visitor>
  void visit(Visitor&& v) {
    config.train.visit(v);
    config.session.visit(v);
  }
};

}  // namespace

std::string run_config_text(const RunConfig& config) {
  return str("# Settings of this run: cplearn train --config FILE trains with the same.\n",
             config_text(list_options(config.train)),
             "\n# How it was computed; these may differ when it is resumed.\n",
             config_text(list_options(config.session)));
}

RunConfig settle_config(const std::vector<ConfigLayer>& layers) {
  RunConfig config;
  Everything all{config};
  for (const ConfigLayer& layer : layers) {
    const auto method = layer.values.find("method");
    if (method != layer.values.end()) config.train.method = method->second;
  }
  config.train = default_options(config.train.method);
  for (const ConfigLayer& layer : layers) {
    for (const auto& [name, value] : layer.values) {
      if (!set_option(all, name, value)) unknown_option(name, layer.source, list_options(all));
    }
  }
  return config;
}

TrainOptions default_options(const std::string& method) {
  const MethodRow& row = find_method(method);
  TrainOptions options;
  options.method = method;
  for (const auto& [name, value] : parse_config(row.defaults, method)) {
    CPL_CHECK(set_option(options, name, value), "the defaults of ", method, " name ", name,
              ", which is no setting; this is a bug");
  }
  return options;
}

std::map<std::string, std::string> parse_saved_config(const std::string& text,
                                                      const std::string& source) {
  std::map<std::string, std::string> values = parse_config(text, source);
  values.emplace("recover", "false");  // version 0.1 did not have it
  return values;
}

RunConfig parse_run_config(const std::string& text, const std::string& source) {
  return settle_config({{source, parse_saved_config(text, source)}});
}

}  // namespace cpl
