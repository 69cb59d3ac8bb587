#include "cplearn/nn/state.h"

#include <ATen/ATen.h>

#include <cstring>
#include <vector>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

struct TypeRow {
  const char* name;  // in the format
  at::ScalarType type;
};

constexpr TypeRow kTypes[] = {{"F32", at::kFloat},     {"F64", at::kDouble}, {"F16", at::kHalf},
                              {"BF16", at::kBFloat16}, {"I64", at::kLong},   {"I32", at::kInt},
                              {"I16", at::kShort},     {"I8", at::kChar},    {"U8", at::kByte},
                              {"BOOL", at::kBool}};

const char* type_name(const std::string& tensor, at::ScalarType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  throw Error(str("tensor ", tensor, " has the type ", at::toString(type),
                  ", which safetensors cannot hold: convert it first"));
}

at::ScalarType type_of(const std::string& tensor, const std::string& name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  throw Error(
      str("tensor ", tensor, " has the type ", name, ", which this libtorch does not know"));
}

}  // namespace

void save_tensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  NamedBytes views;
  std::vector<at::Tensor> kept;  // the memory behind the views
  for (const auto& [name, tensor] : tensors) {
    kept.push_back(tensor.detach().cpu().contiguous());
    const at::Tensor& t = kept.back();
    views[name] = {type_name(name, t.scalar_type()),
                   t.sizes().vec(),
                   {static_cast<const char*>(t.data_ptr()), t.nbytes()}};
  }
  write_safetensors(path, views, metadata);
}

TensorFile load_tensors(const std::string& path) {
  const Safetensors file = Safetensors::read(path);
  TensorFile result;
  result.metadata = file.metadata();
  for (const auto& [name, view] : file.tensors()) {
    at::Tensor tensor = at::empty(view.shape, type_of(name, view.dtype));
    if (!view.bytes.empty()) std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
    result.tensors.emplace(name, std::move(tensor));
  }
  return result;
}

NamedTensors module_state(const torch::nn::Module& module) {
  NamedTensors state;
  for (const auto& item : module.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) state[item.key()] = item.value();
  return state;
}

void copy_tensors(const NamedTensors& values, const NamedTensors& target) {
  std::string trouble;
  for (const auto& [name, tensor] : target) {
    const auto value = values.find(name);
    if (value == values.end()) {
      trouble += str("\n  missing: ", name);
    } else if (value->second.sizes() != tensor.sizes()) {
      trouble += cpl::str("\n  ", name, " has shape ", value->second.sizes(), ", expected ",
                          tensor.sizes());
    }
  }
  for (const auto& [name, tensor] : values) {
    if (target.count(name) == 0) trouble += str("\n  unexpected: ", name);
  }
  CPL_CHECK(trouble.empty(), "the tensors do not fit the network (other settings?):", trouble);
  const at::NoGradGuard guard;
  for (const auto& [name, tensor] : target) tensor.detach().copy_(values.at(name));
}

NamedTensors with_prefix(const NamedTensors& tensors, const std::string& prefix) {
  NamedTensors result;
  for (auto it = tensors.lower_bound(prefix);
       it != tensors.end() && it->first.compare(0, prefix.size(), prefix) == 0; ++it) {
    result.emplace(it->first.substr(prefix.size()), it->second);
  }
  return result;
}

NamedTensors add_prefix(const NamedTensors& tensors, const std::string& prefix) {
  NamedTensors result;
  for (const auto& [name, tensor] : tensors) result.emplace(prefix + name, tensor);
  return result;
}

}  // namespace cpl
