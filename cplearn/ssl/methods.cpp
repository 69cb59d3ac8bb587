#include "cplearn/ssl/methods.h"

#include <chrono>

#include "cplearn/base/error.h"
#include "cplearn/ssl/cplearn.h"

namespace cpl {

const std::vector<MethodRow>& methods() {
  static const std::vector<MethodRow> table = {
      {"cplearn",
       "collapse-proof: agree on a code of a large frozen dictionary, use all codes (Sansone et "
       "al., 2025)",
       make_cplearn},
  };
  return table;
}

std::shared_ptr<Method> make_method(const std::string& name, std::shared_ptr<Backbone> backbone,
                                    const MethodOptions& options) {
  std::string known;
  for (const MethodRow& row : methods()) {
    if (row.name == name) return row.make(std::move(backbone), options);
    known += str(known.empty() ? "" : ", ", row.name);
  }
  throw Error(str("there is no method ", name, ": choose one of ", known));
}

Method::Method(std::shared_ptr<Backbone> backbone)
    : backbone_(register_module("backbone", std::move(backbone))) {}

std::vector<at::Tensor> Method::encode_views(const Views& views) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<at::Tensor> result;
  for (const Crops& crops : views.sizes) {
    for (at::Tensor& z : encode(*backbone_, crops.images, encoding_).chunk(crops.views))
      result.push_back(std::move(z));
  }
  encode_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cpl
