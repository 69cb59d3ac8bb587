#pragma once
// Tensors by name, to and from safetensors files: the bridge between torch and base/safetensors.

#include <torch/nn/module.h>
#include <torch/types.h>

#include <map>
#include <string>

#include "cplearn/base/safetensors.h"

namespace cpl {

using NamedTensors = std::map<std::string, torch::Tensor>;

// Any strides and devices; written contiguous. Throws cpl::Error; see write_file.
void save_tensors(const std::string& path, const NamedTensors& tensors,
                  const Metadata& metadata = {});

struct TensorFile {
  NamedTensors tensors;  // on the CPU, memory of their own
  Metadata metadata;
};

// Throws cpl::Error on a damaged file; see Safetensors::read.
TensorFile load_tensors(const std::string& path);

// Parameters and buffers under their full names ("layer1.0.conv1.weight"), sharing memory.
NamedTensors module_state(const torch::nn::Module& module);

// Copies `values` into `target`, tensor by tensor. Both must have the same names and shapes: throws
// cpl::Error otherwise, with what is missing, too much or different, before anything is changed.
void copy_tensors(const NamedTensors& values, const NamedTensors& target);

// The tensors whose names begin with `prefix`, without it; and the reverse.
NamedTensors with_prefix(const NamedTensors& tensors, const std::string& prefix);
NamedTensors add_prefix(const NamedTensors& tensors, const std::string& prefix);

}  // namespace cpl
