#include "cplearn/nn/backbone/transformer_block.h"

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/nn/product.h"
#include "cplearn/nn/second_derivative.h"
#include "cplearn/simd/attention_kernel.h"
#include "cplearn/simd/gemm.h"
#include "cplearn/simd/token_kernel.h"

namespace cpl {
namespace {

using simd::ConstRows;
using simd::Gemm;
using simd::gemm_stride;
using simd::Rows;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Tokens that go through the products together. With more, weights and the sums of their gradients
// pass by less often; with fewer, what lies between the products stays in a nearer cache.
constexpr std::int64_t kTokens = 192;

enum Parameter {
  kNorm1Weight,
  kNorm1Bias,
  kQkvWeight,
  kQkvBias,
  kProjWeight,
  kProjBias,
  kNorm2Weight,
  kNorm2Bias,
  kFc1Weight,
  kFc1Bias,
  kFc2Weight,
  kFc2Bias,
  kParameters
};

// Memory of one thread, handed out piece by piece.
class Arena {
 public:
  explicit Arena(std::int64_t size) : memory_(torch::empty({size}, torch::kFloat)) {}

  float* take(std::int64_t size) {
    float* const piece = memory_.data_ptr<float>() + used_;
    used_ += (size + 15) / 16 * 16;
    TORCH_INTERNAL_ASSERT(used_ <= memory_.numel());
    return piece;
  }
  void reset() { used_ = 0; }
  // Rows that products read fastest.
  Rows<float> rows(std::int64_t count, std::int64_t width) {
    return {take(count * gemm_stride<float>(width)), gemm_stride<float>(width)};
  }

 private:
  Tensor memory_;
  std::int64_t used_ = 0;
};

// A weight (out x in, as stored), or some of its rows, as the right side of products.
struct Packed {
  Tensor memory;
  std::int64_t n = 0, k = 0;

  // c (rows x n) = a (rows x k) weight, or added to c
  void multiply(std::int64_t rows, ConstRows a, Rows<float> c, bool add) const {
    simd::gemm(Gemm<float>{rows, n, k, a.data, a.step, 1, memory.data_ptr<float>(), 0, 0, c.data,
                           c.step, add, true});
  }
};

// One weight to pack: its rows [begin, end), transposed for the forward pass.
struct PackJob {
  const Tensor& weight;
  std::int64_t begin, end;
};

std::vector<Packed> pack(const std::vector<PackJob>& jobs, bool transposed) {
  std::vector<Packed> packed(jobs.size());
  const auto count = static_cast<std::int64_t>(jobs.size());
  at::parallel_for(0, count, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const PackJob& job = jobs[i];
      const std::int64_t out = job.end - job.begin, in = job.weight.size(1);
      const float* const data = job.weight.data_ptr<float>() + job.begin * in;
      Packed& p = packed[i];
      p.n = transposed ? out : in;
      p.k = transposed ? in : out;
      p.memory = torch::empty({simd::packed_b_size<float>(p.n, p.k)}, torch::kFloat);
      simd::pack_b(p.n, p.k, data, transposed ? 1 : in, transposed ? in : 1,
                   p.memory.data_ptr<float>());
    }
  });
  return packed;
}

// The products' weights, for one direction.
struct Weights {
  Packed query, key_value, proj, fc1, fc2;

  Weights(const BlockParameters& p, bool transposed) {
    const std::int64_t width = p[kQkvWeight].size(1);
    auto packed = pack({{p[kQkvWeight], 0, width},
                        {p[kQkvWeight], width, 3 * width},
                        {p[kProjWeight], 0, width},
                        {p[kFc1Weight], 0, p[kFc1Weight].size(0)},
                        {p[kFc2Weight], 0, width}},
                       transposed);
    query = packed[0], key_value = packed[1], proj = packed[2], fc1 = packed[3], fc2 = packed[4];
  }
};

// Threads that share `count` groups.
std::int64_t part_count(std::int64_t count) {
  return std::min<std::int64_t>(at::get_num_threads(), count);
}

// What the backward pass needs of the forward pass.
struct Saved {
  Tensor qkv;       // n x tokens x 3 width
  Tensor log_sums;  // n x heads x queries
  Tensor attended;  // n x queries x width and some more
  Tensor middle;    // n x queries x width: y
  Tensor hidden;    // n x queries x hidden: fc1 without its bias
};

// Sizes, parameters, and the walk over tokens.
class Block {
 public:
  Block(const Tensor& x, const BlockParameters& parameters, const BlockCall& call)
      : x_(x),
        parameters_(parameters),
        heads_(call.heads),
        images_(x.size(0)),
        tokens_(x.size(1)),
        width_(x.size(2)),
        hidden_(parameters[kFc1Weight].size(0)),
        queries_(call.first_only ? 1 : tokens_),
        scale1_(per_row(call.scale1)),
        scale2_(per_row(call.scale2)) {
    norm1_ = {p(kNorm1Weight), p(kNorm1Bias), static_cast<float>(call.epsilon)};
    norm2_ = {p(kNorm2Weight), p(kNorm2Bias), static_cast<float>(call.epsilon)};
  }

  // With `saved`, fills it.
  Tensor forward(Saved* saved) const {
    const Tensor out = torch::empty({images_, queries_, width_}, x_.options());
    // Rows as products read them fastest, without a copy.
    const Tensor attended =
        torch::empty({images_, queries_, gemm_stride<float>(width_)}, x_.options());
    if (saved) {
      saved->qkv = torch::empty({images_, tokens_, 3 * width_}, x_.options());
      saved->log_sums = torch::empty({images_, heads_, queries_}, x_.options());
      saved->attended = attended;
      saved->middle = torch::empty_like(out);
      saved->hidden = torch::empty({images_, queries_, hidden_}, x_.options());
    }
    const Weights weights(parameters_, true);
    for_image_groups(false,
                     [&](std::int64_t, Arena& arena, std::int64_t first, std::int64_t count) {
                       attend(weights, arena, first, count, saved, attended);
                     });
    for_row_groups(false, [&](std::int64_t, Arena& arena, std::int64_t first, std::int64_t count) {
      transform(weights, arena, first, count, saved, attended, out);
    });
    return out;
  }

  // Gradients with respect to x and to the parameters, or with respect to x alone.
  tensor_list backward(const Saved& saved, const Tensor& dout, bool with_parameters) const {
    const Tensor dx = queries_ == tokens_ ? torch::empty_like(x_) : torch::zeros_like(x_);
    const Tensor dattended = torch::empty_like(saved.attended);
    const Weights weights(parameters_, false);
    // A thread adds up gradients of its own.
    const std::int64_t parts = std::max(part_count(image_groups()), part_count(row_groups()));
    const Tensor sums = torch::zeros({parts, sum_count(with_parameters)}, x_.options());
    for_row_groups(true,
                   [&](std::int64_t part, Arena& arena, std::int64_t first, std::int64_t count) {
                     transform_backward(weights, arena, first, count, saved, dout, dx, dattended,
                                        places(sums, part, with_parameters));
                   });
    for_image_groups(true,
                     [&](std::int64_t part, Arena& arena, std::int64_t first, std::int64_t count) {
                       attend_backward(weights, arena, first, count, saved, dattended, dx,
                                       places(sums, part, with_parameters));
                     });
    tensor_list gradients = {dx};
    if (!with_parameters) {
      gradients.resize(1 + kParameters);
      return gradients;
    }
    const Tensor sum = parts == 1 ? sums[0] : sums.sum(0);
    std::int64_t begin = 0;
    for (const Tensor& parameter : parameters_) {
      gradients.push_back(sum.narrow(0, begin, parameter.numel()).view(parameter.sizes()));
      begin += parameter.numel();
    }
    return gradients;
  }

 private:
  // Where a thread adds up the parameters' gradients. Those of weights cost products and memory,
  // and are left out (null) if nobody asks for them; the others come with what x needs.
  struct Gradients {
    std::array<float*, kParameters> at{};

    float* operator[](Parameter which) const { return at[which]; }
    float* from(Parameter which, std::int64_t element) const {
      return at[which] ? at[which] + element : nullptr;
    }
  };

  const float* p(Parameter which) const { return parameters_[which].data_ptr<float>(); }

  // One number per row of the result, from one per image.
  Tensor per_row(const Tensor& scale) const {
    if (!scale.defined()) return {};
    return scale.view({images_, 1}).expand({images_, queries_}).contiguous();
  }
  static const float* from_row(const Tensor& scale, std::int64_t row) {
    return scale.defined() ? scale.data_ptr<float>() + row : nullptr;
  }

  // Numbers that a thread adds up: with the weights, or of biases and norms alone.
  std::int64_t sum_count(bool weights) const {
    std::int64_t count = 0;
    for (const Tensor& parameter : parameters_)
      count += weights || parameter.dim() == 1 ? parameter.numel() : 0;
    return count;
  }
  Gradients places(const Tensor& sums, std::int64_t part, bool weights) const {
    Gradients d;
    float* place = sums.data_ptr<float>() + part * sums.size(1);
    for (int i = 0; i < kParameters; ++i) {
      if (!weights && parameters_[i].dim() > 1) continue;
      d.at[i] = place;
      place += parameters_[i].numel();
    }
    return d;
  }

  // Rows from `row` on of an n x tokens x columns tensor.
  static Rows<float> rows_of(const Tensor& t, std::int64_t row) {
    return {t.data_ptr<float>() + row * t.size(-1), t.size(-1)};
  }
  // Every image's queries among its tokens, as rows one after another: all, or the first.
  template <class T>
  Rows<T> queries_of(Rows<T> rows) const {
    return {rows.data, queries_ == tokens_ ? rows.step : tokens_ * rows.step};
  }
  // Of x, or its gradient, from query `row` on.
  Rows<float> query_rows(const Tensor& t, std::int64_t row) const {
    return {queries_of(rows_of(t, 0))[row], queries_of(rows_of(t, 0)).step};
  }

  // Images, or rows of the result, in groups of about kTokens tokens.
  std::int64_t images_at_once() const { return std::max<std::int64_t>(1, kTokens / tokens_); }
  std::int64_t image_groups() const { return (images_ + images_at_once() - 1) / images_at_once(); }
  std::int64_t row_groups() const { return (images_ * queries_ + kTokens - 1) / kTokens; }
  template <class Body>
  void for_image_groups(bool in_order, const Body& body) const {
    for_groups(images_, image_groups(), images_at_once() * tokens_ * (6 * width_ + 128), in_order,
               body);
  }
  template <class Body>
  void for_row_groups(bool in_order, const Body& body) const {
    for_groups(images_ * queries_, row_groups(), kTokens * (4 * width_ + 2 * hidden_ + 128),
               in_order, body);
  }

  // body(part, arena, first, count) for [0, total) in equal groups, on all threads. In order: each
  // has its share, so that its sums are always of the same groups. Otherwise whoever is free takes
  // the next group, and nobody waits for a thread that was interrupted.
  template <class Body>
  void for_groups(std::int64_t total, std::int64_t groups, std::int64_t memory, bool in_order,
                  const Body& body) const {
    const std::int64_t parts = part_count(groups);
    std::atomic<std::int64_t> next{0};
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      Arena arena(memory);
      const auto run = [&](std::int64_t part, std::int64_t group) {
        arena.reset();
        const std::int64_t first = total * group / groups;
        body(part, arena, first, total * (group + 1) / groups - first);
      };
      for (std::int64_t part = begin; part < end; ++part) {
        if (in_order) {
          for (std::int64_t g = groups * part / parts; g < groups * (part + 1) / parts; ++g)
            run(part, g);
        } else {
          for (std::int64_t g = next++; g < groups; g = next++) run(part, g);
        }
      }
    });
  }

  simd::Attention head(Rows<float> qkv, std::int64_t h) const {
    const std::int64_t width = width_ / heads_;
    const auto part = [&](std::int64_t i) {
      return ConstRows{qkv.data + i * width_ + h * width, qkv.step};
    };
    return {
        tokens_, queries_, width,  static_cast<float>(1 / std::sqrt(static_cast<double>(width))),
        part(0), part(1),  part(2)};
  }

  // ---- forward -------------------------------------------------------------------------------

  // Images [first, first + count): norm1, qkv, attention.
  void attend(const Weights& weights, Arena& arena, std::int64_t first, std::int64_t count,
              Saved* saved, const Tensor& attended) const {
    const std::int64_t rows = count * tokens_, queries = count * queries_;
    const Rows<float> normed = arena.rows(rows, width_);
    const Rows<float> qkv = saved ? rows_of(saved->qkv, first * tokens_)
                                  : Rows<float>{arena.take(rows * 3 * width_), 3 * width_};
    float* const log_sums = saved ? nullptr : arena.take(queries_);
    simd::layer_norm({rows, width_}, norm1_, rows_of(x_, first * tokens_), normed);
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(p(kQkvBias), 3 * width_, qkv[i]);
    weights.query.multiply(queries, queries_of<const float>(normed), queries_of(qkv), true);
    weights.key_value.multiply(rows, normed, {qkv.data + width_, qkv.step}, true);
    for (std::int64_t image = 0; image < count; ++image) {
      for (std::int64_t h = 0; h < heads_; ++h) {
        const Rows<float> out = rows_of(attended, (first + image) * queries_);
        simd::attention(
            head({qkv[image * tokens_], qkv.step}, h), {out.data + h * (width_ / heads_), out.step},
            saved ? saved->log_sums.data_ptr<float>() + ((first + image) * heads_ + h) * queries_
                  : log_sums);
      }
    }
  }

  // Rows [first, first + count) of the result: proj, and all that follows.
  void transform(const Weights& weights, Arena& arena, std::int64_t first, std::int64_t count,
                 Saved* saved, const Tensor& attended, const Tensor& out) const {
    const Rows<float> branch = arena.rows(count, width_), normed = arena.rows(count, width_);
    const Rows<float> activated = arena.rows(count, hidden_);
    const Rows<float> middle = rows_of(saved ? saved->middle : out, first);
    const Rows<float> hidden = saved ? rows_of(saved->hidden, first) : arena.rows(count, hidden_);
    weights.proj.multiply(count, rows_of(attended, first), branch, false);
    simd::add_branch({count, width_}, query_rows(x_, first), branch, p(kProjBias),
                     from_row(scale1_, first), middle);
    simd::layer_norm({count, width_}, norm2_, middle, normed);
    weights.fc1.multiply(count, normed, hidden, false);
    simd::gelu({count, hidden_}, hidden, p(kFc1Bias), activated);
    weights.fc2.multiply(count, activated, branch, false);
    simd::add_branch({count, width_}, middle, branch, p(kFc2Bias), from_row(scale2_, first),
                     rows_of(out, first));
  }

  // ---- backward ------------------------------------------------------------------------------

  // dweight (out x in) += dy^T x over `rows` tokens, unless it is null
  static void add_weight_gradient(std::int64_t rows, ConstRows dy, std::int64_t out, ConstRows x,
                                  std::int64_t in, float* dweight) {
    if (!dweight) return;
    simd::gemm(
        Gemm<float>{out, in, rows, dy.data, 1, dy.step, x.data, x.step, 1, dweight, in, true});
  }

  void transform_backward(const Weights& weights, Arena& arena, std::int64_t first,
                          std::int64_t count, const Saved& saved, const Tensor& dout,
                          const Tensor& dx, const Tensor& dattended, const Gradients& d) const {
    const simd::TokenShape narrow{count, width_}, wide{count, hidden_};
    const Rows<float> dbranch = arena.rows(count, width_), dnormed = arena.rows(count, width_);
    const Rows<float> normed = arena.rows(count, width_);
    const Rows<float> activated = arena.rows(count, hidden_), dhidden = arena.rows(count, hidden_);
    const Rows<float> middle = rows_of(saved.middle, first), dmiddle = query_rows(dx, first);
    // The MLP.
    simd::scale_rows(narrow, rows_of(dout, first), from_row(scale2_, first), dbranch, d[kFc2Bias]);
    weights.fc2.multiply(count, dbranch, dhidden, false);
    simd::gelu_backward(wide, rows_of(saved.hidden, first), p(kFc1Bias), activated, dhidden);
    add_weight_gradient(count, dbranch, width_, activated, hidden_, d[kFc2Weight]);
    simd::add_rows(wide, dhidden, d[kFc1Bias]);
    simd::layer_norm(narrow, norm2_, middle, normed);
    add_weight_gradient(count, dhidden, hidden_, normed, width_, d[kFc1Weight]);
    weights.fc1.multiply(count, dhidden, dnormed, false);
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(rows_of(dout, first)[i], width_, dmiddle[i]);
    simd::layer_norm_backward(narrow, norm2_, middle, dnormed, dmiddle, d[kNorm2Weight],
                              d[kNorm2Bias]);
    // The projection of the attention's result.
    simd::scale_rows(narrow, dmiddle, from_row(scale1_, first), dbranch, d[kProjBias]);
    weights.proj.multiply(count, dbranch, rows_of(dattended, first), false);
    add_weight_gradient(count, dbranch, width_, rows_of(saved.attended, first), width_,
                        d[kProjWeight]);
  }

  void attend_backward(const Weights& weights, Arena& arena, std::int64_t first, std::int64_t count,
                       const Saved& saved, const Tensor& dattended, const Tensor& dx,
                       const Gradients& d) const {
    const std::int64_t rows = count * tokens_, queries = count * queries_, width = width_ / heads_;
    const Rows<float> normed = arena.rows(rows, width_), dnormed = arena.rows(rows, width_);
    const Rows<float> dquery = arena.rows(queries, width_),
                      dkey_value = arena.rows(rows, 2 * width_);
    for (std::int64_t image = 0; image < count; ++image) {
      for (std::int64_t h = 0; h < heads_; ++h) {
        const auto part = [&](Rows<float> t, std::int64_t row, std::int64_t column) {
          return Rows<float>{t[row] + column + h * width, t.step};
        };
        simd::attention_backward(
            head(rows_of(saved.qkv, (first + image) * tokens_), h),
            saved.log_sums.data_ptr<float>() + ((first + image) * heads_ + h) * queries_,
            part(rows_of(dattended, (first + image) * queries_), 0, 0),
            part(dquery, image * queries_, 0), part(dkey_value, image * tokens_, 0),
            part(dkey_value, image * tokens_, width_));
      }
    }
    const ConstRows x = rows_of(x_, first * tokens_);
    simd::layer_norm({rows, width_}, norm1_, x, normed);
    simd::add_rows({queries, width_}, dquery, d[kQkvBias]);
    simd::add_rows({rows, 2 * width_}, dkey_value, d[kQkvBias] + width_);
    add_weight_gradient(queries, dquery, width_, queries_of<const float>(normed), width_,
                        d[kQkvWeight]);
    add_weight_gradient(rows, dkey_value, 2 * width_, normed, width_,
                        d.from(kQkvWeight, width_ * width_));
    weights.key_value.multiply(rows, dkey_value, dnormed, false);
    weights.query.multiply(queries, dquery, queries_of(dnormed), true);
    simd::layer_norm_backward({rows, width_}, norm1_, x, dnormed, rows_of(dx, first * tokens_),
                              d[kNorm1Weight], d[kNorm1Bias]);
  }

  const Tensor x_;
  const BlockParameters parameters_;
  const std::int64_t heads_, images_, tokens_, width_, hidden_;
  const std::int64_t queries_;    // tokens per image of the result
  const Tensor scale1_, scale2_;  // one number per row of the result, or undefined
  simd::LayerNorm norm1_{}, norm2_{};
};

class TransformerBlock : public torch::autograd::Function<TransformerBlock> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, at::TensorList parameters,
                        const Tensor& scale1, const Tensor& scale2, std::int64_t heads,
                        double epsilon, bool first_only) {
    RECORD_FUNCTION("cplearn::product_transformer_block", {});
    Saved saved;
    const Tensor out = Block(x, parameters.vec(), call(scale1, scale2, heads, epsilon, first_only))
                           .forward(&saved);
    tensor_list kept = {
        x, scale1, scale2, saved.qkv, saved.log_sums, saved.attended, saved.middle, saved.hidden};
    kept.insert(kept.end(), parameters.begin(), parameters.end());
    context->save_for_backward(kept);
    context->saved_data["heads"] = heads;
    context->saved_data["epsilon"] = epsilon;
    context->saved_data["first_only"] = first_only;
    return out;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    RECORD_FUNCTION("cplearn::product_transformer_block_backward", {});
    refuse_second_derivative("transformer_block");
    const tensor_list kept = context->get_saved_variables();
    const BlockParameters parameters(kept.begin() + 8, kept.end());
    bool with_parameters = false;
    for (std::size_t i = 0; i < kParameters; ++i)
      with_parameters = with_parameters || context->needs_input_grad(1 + i);
    const Saved saved{kept[3], kept[4], kept[5], kept[6], kept[7]};
    tensor_list results = Block(kept[0], parameters,
                                call(kept[1], kept[2], context->saved_data["heads"].toInt(),
                                     context->saved_data["epsilon"].toDouble(),
                                     context->saved_data["first_only"].toBool()))
                              .backward(saved, gradients[0].contiguous(), with_parameters);
    results.resize(results.size() + 5);  // scales, heads, epsilon, first_only
    return results;
  }

 private:
  // A scale without elements stands for none: apply() does not take undefined tensors.
  static BlockCall call(const Tensor& scale1, const Tensor& scale2, std::int64_t heads,
                        double epsilon, bool first_only) {
    const auto given = [](const Tensor& scale) { return scale.numel() > 0 ? scale : Tensor(); };
    return {heads, epsilon, first_only, given(scale1), given(scale2)};
  }
};

bool wants_gradient(const Tensor& x, const BlockParameters& parameters) {
  return at::GradMode::is_enabled() &&
         (x.requires_grad() || std::any_of(parameters.begin(), parameters.end(),
                                           [](const Tensor& p) { return p.requires_grad(); }));
}

}  // namespace

bool transformer_block_supports(const Tensor& x, const BlockParameters& parameters,
                                std::int64_t heads) {
  const auto suits = [](const Tensor& t) {
    return t.device().is_cpu() && t.scalar_type() == torch::kFloat;
  };
  return !cpu_autocast() && x.dim() == 3 && x.numel() > 0 && suits(x) &&
         std::all_of(parameters.begin(), parameters.end(),
                     [&](const Tensor& p) { return suits(p) && p.is_contiguous(); }) &&
         x.size(2) % (heads * simd::kTokenPadding) == 0 &&
         parameters[kFc1Weight].size(0) % simd::kTokenPadding == 0;
}

Tensor transformer_block(const Tensor& x, const BlockParameters& parameters,
                         const BlockCall& call) {
  CPL_CHECK(
      parameters.size() == kParameters && transformer_block_supports(x, parameters, call.heads),
      "transformer_block got ", x.toString(), " of ", x.sizes(), " and ", parameters.size(),
      " parameters, expected n x tokens x width floats on the CPU and ", int{kParameters});
  if (!wants_gradient(x, parameters)) {
    RECORD_FUNCTION("cplearn::product_transformer_block", {});
    const at::NoGradGuard no_grad;
    return Block(x.contiguous(), parameters, call).forward(nullptr);
  }
  const auto or_empty = [&](const Tensor& scale) {
    return scale.defined() ? scale : torch::empty({0}, x.options());
  };
  return TransformerBlock::apply(x.contiguous(), at::TensorList(parameters), or_empty(call.scale1),
                                 or_empty(call.scale2), call.heads, call.epsilon, call.first_only);
}

}  // namespace cpl
