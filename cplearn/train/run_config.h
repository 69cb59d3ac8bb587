#pragma once
// A run is a directory:
//
//   config.toml             the settings
//   metrics.jsonl           a line every few steps
//   checkpoint.safetensors  the latest state; best.safetensors the one of the lowest loss,
//                           healthy.safetensors the last one that was not collapsed (--recover)
//   summary.json            what came out, when it is finished
//   eval.json               its scores on labelled images (study/evaluation.h)
//
// `train` begins it; everything else opens it with open_run (train/run.h). The files' names and the
// settings need no torch.

#include <map>
#include <string>
#include <vector>

#include "cplearn/train/options.h"

namespace cpl {

struct RunFiles {
  explicit RunFiles(std::string run) : directory(std::move(run)) {}

  std::string config() const { return directory + "/config.toml"; }
  std::string metrics() const { return directory + "/metrics.jsonl"; }
  std::string checkpoint() const { return directory + "/checkpoint.safetensors"; }
  std::string best() const { return directory + "/best.safetensors"; }
  std::string healthy() const { return directory + "/healthy.safetensors"; }
  std::string epoch(std::int64_t number) const {
    return str(directory, "/epoch-", number, ".safetensors");
  }
  std::string summary() const { return directory + "/summary.json"; }
  std::string evaluation() const { return directory + "/eval.json"; }

  std::string directory;
};

// The settings of a run, from the text of config.toml.
struct RunConfig {
  TrainOptions train;
  SessionOptions session;
};
std::string run_config_text(const RunConfig& config);

// Settings somebody wrote, by name. `source` is what errors call it.
struct ConfigLayer {
  std::string source;
  std::map<std::string, std::string> values;
};
// Every option's default < the defaults of the method < the layers, each over those before it.
// Unknown names are errors.
RunConfig settle_config(const std::vector<ConfigLayer>& layers);
// A run of another version keeps what it had, whatever is the default now.
std::map<std::string, std::string> parse_saved_config(const std::string& text,
                                                      const std::string& source);
RunConfig parse_run_config(const std::string& text, const std::string& source);

// The settings of a method nobody changed: TrainOptions' with those in the method's row.
TrainOptions default_options(const std::string& method);

}  // namespace cpl
