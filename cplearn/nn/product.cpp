#include "cplearn/nn/product.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>

#include "cplearn/base/error.h"
#include "cplearn/simd/gemm.h"

namespace cpl {
namespace {

constexpr double kPerThread = 1 << 18;  // multiplications: a few microseconds

// With one of the strides 1, as simd::gemm wants them. A dimension of 1 has any stride.
at::Tensor with_rows(const at::Tensor& x) {
  const bool suits = x.stride(0) == 1 || x.stride(1) == 1;
  return suits && x.size(0) > 1 && x.size(1) > 1 ? x : x.contiguous();
}

template <class T>
void multiply(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool add) {
  const simd::Gemm<T> whole{a.size(0),   b.size(1),         a.size(1),       a.data_ptr<T>(),
                            a.stride(0), a.stride(1),       b.data_ptr<T>(), b.stride(0),
                            b.stride(1), out.data_ptr<T>(), out.stride(0),   add};
  const bool by_rows = whole.m >= whole.n;
  const std::int64_t length = by_rows ? whole.m : whole.n;
  const double work = static_cast<double>(whole.m * whole.n) * static_cast<double>(whole.k);
  const int threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  const std::int64_t parts =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(work / kPerThread), 1, threads);
  // Whole vectors for each part.
  const std::int64_t step = ((length + parts - 1) / parts + 15) / 16 * 16;
  at::parallel_for(0, (length + step - 1) / step, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t first = part * step, count = std::min(step, length - first);
      simd::Gemm<T> job = whole;
      (by_rows ? job.m : job.n) = count;
      (by_rows ? job.a : job.b) += first * (by_rows ? job.a_row : job.b_column);
      job.c += first * (by_rows ? job.c_row : 1);
      simd::gemm(job);
    }
  });
}

void multiply_any(at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool add) {
  const c10::NoGradGuard no_grad;
  CPL_CHECK(a.dim() == 2 && b.dim() == 2 && out.dim() == 2 && a.size(1) == b.size(0) &&
                out.size(0) == a.size(0) && out.size(1) == b.size(1),
            "a product of ", a.sizes(), " and ", b.sizes(), " does not give ", out.sizes());
  if (!product_supports(a, b) || out.scalar_type() != a.scalar_type()) {
    add ? out.addmm_(a, b) : at::mm_out(out, a, b);
    return;
  }
  CPL_CHECK(out.stride(1) == 1 || out.size(1) <= 1, "product_out got a result with strides ",
            out.strides(), ", expected rows of neighbours");
  if (out.numel() == 0) return;
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "product",
                             [&] { multiply<scalar_t>(out, with_rows(a), with_rows(b), add); });
}

}  // namespace

bool product_supports(const at::Tensor& a, const at::Tensor& b) {
  return a.device().is_cpu() && b.device().is_cpu() && a.scalar_type() == b.scalar_type() &&
         (a.scalar_type() == at::kFloat || a.scalar_type() == at::kDouble);
}

// What libtorch's own is_cpu_enabled() asks, whose name changes from version to version.
bool cpu_autocast() {
  return !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  const c10::NoGradGuard no_grad;
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  product_out(out, a, b);
  return out;
}

void product_out(at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  multiply_any(out, a, b, false);
}

void add_product(at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  multiply_any(out, a, b, true);
}

}  // namespace cpl
