// The fused loss: simd/head_kernel.h spread over threads and workers, as an autograd function.

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/nn/code_loss.h"

namespace cpl {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kLog2e = 1.4426950408889634;

// Under this bound on a row's sum of |x_k|, and so on |s| (base 2), no exponential of s, of a part
// of it or of s - log_sum leaves fp32's range, for any number of codes under 1/eps: 2 * 40 +
// log2(1e8) < 126.
constexpr double kBounded = 40;

// log_sum of the lanes that pad a group, whose logits are 0: they get a probability under that of
// any real row (at least 2^-107), and 2^(0 - log_sum) stays in range without a clamp.
constexpr float kPaddingBounded = 120;
constexpr float kPadding = 1e30f;

struct View {
  simd::AlignedFloats packed, expected, weighted;  // [groups][packed_width][lanes]
  simd::AlignedFloats log_sum;                     // [groups][lanes], base 2
  std::vector<double> exact_log_sum;               // [groups * lanes]
  std::vector<double> row_total;                   // [groups * lanes] sum that divides `expected`
};

class FusedHead {
 public:
  // One view or two, contiguous.
  FusedHead(const Dictionary& dictionary, const std::vector<at::Tensor>& h, double scale)
      : codes_(dictionary.view()),
        rows_(h[0].size(0)),
        scale_(scale),
        lanes_(simd::lanes()),
        groups_((rows_ + lanes_ - 1) / lanes_),
        group_size_(codes_.packed_width() * lanes_),
        views_(h.size()) {
    pack(h);
  }

  // log_sum and, if asked for (the loss needs them), the expected code of every row.
  void normalise(bool expected) {
    for (View& view : views_) {
      view.log_sum = buffer(groups_ * lanes_);
      view.exact_log_sum.resize(static_cast<std::size_t>(groups_ * lanes_));
      view.row_total.resize(static_cast<std::size_t>(groups_ * lanes_));
      if (expected) view.expected = buffer(groups_ * group_size_);
    }
    // Groups alone keep few threads busy: the tiles of a group are shared out as well.
    const std::int64_t threads = at::get_num_threads();
    const std::int64_t parts = std::clamp<std::int64_t>(
        (2 * threads + all_groups() - 1) / all_groups(), 1, codes_.tiles());
    const auto part_begin = [&](std::int64_t part) { return part * codes_.tiles() / parts; };
    std::vector<float> top(static_cast<std::size_t>(all_groups() * parts * lanes_));
    std::vector<double> sum(top.size());
    simd::AlignedFloats partial;
    if (expected && parts > 1) partial = buffer(all_groups() * parts * group_size_);
    at::parallel_for(0, all_groups() * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t part = item % parts;
        auto [view, group] = view_and_group(item / parts);
        float* target = nullptr;
        if (expected)
          target = parts > 1 ? partial.get() + item * group_size_
                             : view.expected.get() + group * group_size_;
        simd::row_sums(codes_, view.packed.get() + group * group_size_, part_begin(part),
                       part_begin(part + 1), bounded_, top.data() + item * lanes_,
                       sum.data() + item * lanes_, target);
      }
    });
    for (std::int64_t i = 0; i < all_groups() * lanes_; ++i) {
      auto [view, group] = view_and_group(i / lanes_);
      const std::int64_t lane = i % lanes_, row = group * lanes_ + lane;
      const auto at = [&](std::int64_t part) {
        return static_cast<std::size_t>((i / lanes_ * parts + part) * lanes_ + lane);
      };
      float highest = top[at(0)];
      for (std::int64_t part = 1; part < parts; ++part) highest = std::max(highest, top[at(part)]);
      double total = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        const double shrink = std::exp2(static_cast<double>(top[at(part)]) - highest);
        total += sum[at(part)] * shrink;
        if (!expected || parts == 1) continue;
        const float* from = partial.get() + (i / lanes_ * parts + part) * group_size_ + lane;
        float* to = view.expected.get() + group * group_size_ + lane;
        for (std::int64_t k = 0; k < codes_.packed_width(); ++k) {
          const float value = static_cast<float>(shrink) * from[k * lanes_];
          to[k * lanes_] = part == 0 ? value : to[k * lanes_] + value;
        }
      }
      const double log_sum = highest + std::log2(total);
      view.row_total[static_cast<std::size_t>(row)] = total;
      view.exact_log_sum[static_cast<std::size_t>(row)] = log_sum;
      view.log_sum[static_cast<std::size_t>(row)] =
          row < rows_ ? static_cast<float>(log_sum) : (bounded_ ? kPaddingBounded : kPadding);
    }
  }

  // Loss terms, and d total / d H when `gradient`, times the number of workers: they average their
  // gradients, and this one is of a mean over the rows of all.
  struct Result {
    double invariance = 0, prior = 0, entropy = 0;
    at::Tensor mean;  // 2 x c
    at::Tensor gradient[2];
  };

  Result loss(const CodeLossOptions& options, bool gradient, WorkerGroup& workers) {
    simd::LossJob job;
    job.codes = codes_;
    job.rows = rows_;
    job.total_rows = rows_ * workers.size();
    job.bounded = bounded_;
    job.cross_weight[0] = static_cast<float>(options.beta * (options.symmetric ? 0.5 : 1.0));
    job.cross_weight[1] = options.symmetric ? job.cross_weight[0] : 0.0f;
    job.prior_weight[0] = options.symmetric ? 0.5f : 1.0f;
    job.prior_weight[1] = options.symmetric ? 0.5f : 0.0f;
    job.prior_form = options.prior;
    at::Tensor target;
    if (options.target.defined()) {
      target = options.target.to(at::kCPU, at::kFloat).contiguous();
      job.prior = target.data_ptr<float>();
    }
    Result result;
    result.mean = at::empty({2, codes_.codes}, at::kFloat);
    for (std::size_t v = 0; v < 2; ++v) {
      job.packed[v] = views_[v].packed.get();
      job.log_sum[v] = views_[v].log_sum.get();
      job.mean[v] = result.mean.data_ptr<float>() + static_cast<std::int64_t>(v) * codes_.codes;
    }
    const bool others = options.prior == PriorForm::kOthers;
    check_prior(options.prior, job.total_rows);
    at::Tensor crowd;
    if (others) {
      crowd = at::empty({2, codes_.codes}, at::kFloat);
      for (std::int64_t v = 0; v < 2; ++v)
        job.crowd[v] = crowd.data_ptr<float>() + v * codes_.codes;
    }
    if (workers.size() > 1) {  // the gradient needs the means of the whole batch
      job.gradient = false;
      run(job);
      workers.sum(result.mean);
      job.mean_given = true;
      if (others) {  // and these, which need the means
        run(job);
        workers.sum(crowd);
        job.crowd_given = true;
      }
    }
    job.gradient = gradient;
    const Sums sums = run(job);
    result.prior = job.prior_weight[0] * sums.prior[0] + job.prior_weight[1] * sums.prior[1];

    // Sums over rows: cross 0, cross 1, entropy, the rows' own part of the prior.
    at::Tensor totals = at::zeros({4}, at::kDouble);
    totals[3] = job.prior_weight[0] * sums.prior_own[0] + job.prior_weight[1] * sums.prior_own[1];
    std::vector<std::array<double, 3>> terms(static_cast<std::size_t>(groups_));
    for (int v = 0; gradient && v < 2; ++v)
      result.gradient[v] = at::empty({rows_, codes_.width}, at::kFloat);
    at::parallel_for(0, groups_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = begin; group < end; ++group) {
        terms[static_cast<std::size_t>(group)] = cross_and_entropy(group);
        for (int v = 0; gradient && v < 2; ++v)
          write_gradient(job, sums, v, group, result.gradient[v].data_ptr<float>());
      }
    });
    for (const auto& term : terms) {
      for (std::size_t i = 0; i < 3; ++i) totals.data_ptr<double>()[i] += term[i];
    }
    workers.sum(totals);
    const double* total = totals.data_ptr<double>();
    const double n = static_cast<double>(job.total_rows);
    result.invariance = options.symmetric ? 0.5 * (total[0] + total[1]) / n : total[0] / n;
    result.entropy = total[2] / n;
    result.prior += total[3];
    return result;
  }

  // The code with the largest logit, and its probability. Needs normalise().
  void assign(std::int64_t* code, float* probability) {
    const View& view = views_[0];
    at::parallel_for(0, groups_, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int32_t> best(static_cast<std::size_t>(lanes_));
      std::vector<float> logit(best.size());
      for (std::int64_t group = begin; group < end; ++group) {
        simd::nearest_codes(codes_, view.packed.get() + group * group_size_, 0, codes_.tiles(),
                            best.data(), logit.data());
        for (std::int64_t lane = 0; lane < std::min(lanes_, rows_ - group * lanes_); ++lane) {
          const std::int64_t row = group * lanes_ + lane;
          const auto i = static_cast<std::size_t>(lane);
          code[row] = best[i];
          const double log_p =
              static_cast<double>(logit[i]) - view.exact_log_sum[static_cast<std::size_t>(row)];
          probability[row] = static_cast<float>(std::exp2(std::min(log_p, 0.0)));
        }
      }
    });
  }

 private:
  struct Sums {
    std::vector<double> along[2];
    double prior[2] = {};
    double prior_own[2] = {};
  };

  static simd::AlignedFloats buffer(std::int64_t count) {
    return simd::aligned_floats(static_cast<std::size_t>(count));
  }

  // The groups of all views, one after the other.
  std::int64_t all_groups() const { return static_cast<std::int64_t>(views_.size()) * groups_; }
  std::pair<View&, std::int64_t> view_and_group(std::int64_t item) {
    return {views_[static_cast<std::size_t>(item / groups_)], item % groups_};
  }

  // Packs the rows; refuses what is not finite.
  void pack(const std::vector<at::Tensor>& h) {
    std::vector<const float*> data;
    for (const at::Tensor& rows : h) data.push_back(rows.data_ptr<float>());
    for (View& view : views_) view.packed = buffer(groups_ * group_size_);
    std::vector<float> bound(static_cast<std::size_t>(all_groups() * lanes_),
                             0.0f);  // of a row's logits
    at::parallel_for(0, all_groups(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        auto [view, group] = view_and_group(item);
        const std::int64_t first = group * lanes_, count = std::min(lanes_, rows_ - first);
        float* packed = view.packed.get() + group * group_size_;
        simd::pack_rows(data[static_cast<std::size_t>(item / groups_)] + first * codes_.width,
                        count, codes_.width, codes_.packed_width(),
                        static_cast<float>(scale_ * kLog2e), packed);
        float* rows = bound.data() + item * lanes_;
        for (std::int64_t i = 0; i < group_size_; i += lanes_) {
          for (std::int64_t lane = 0; lane < lanes_; ++lane)
            rows[lane] += std::abs(packed[i + lane]);
        }
      }
    });
    for (std::size_t i = 0; i < bound.size(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) % (groups_ * lanes_);
      if (!std::isfinite(bound[i]))
        throw NotFinite(str("row ", row, " of h", i / static_cast<std::size_t>(groups_ * lanes_),
                            " contains NaN or infinity"));
      bounded_ = bounded_ && bound[i] <= kBounded;
    }
  }

  // Sums over the rows of a group: both cross entropies, and the mean entropy of the two views. The
  // mean of logits is the logit of the expected code, sum_j p_ij s_ij = <sum_j p_ij w_j, h_i>.
  std::array<double, 3> cross_and_entropy(std::int64_t group) const {
    std::array<double, 3> terms = {};
    std::vector<double> mean(static_cast<std::size_t>(lanes_));
    for (std::size_t v = 0; v < 2; ++v) {
      for (std::size_t w = 0; w < 2; ++w) {  // of the probabilities of v, the logits of w
        const float* code = views_[v].expected.get() + group * group_size_;
        const float* h = views_[w].packed.get() + group * group_size_;
        std::fill(mean.begin(), mean.end(), 0.0);
        for (std::int64_t i = 0; i < group_size_; i += lanes_) {
          for (std::int64_t lane = 0; lane < lanes_; ++lane)
            mean[static_cast<std::size_t>(lane)] +=
                static_cast<double>(h[i + lane]) * code[i + lane];
        }
        for (std::int64_t lane = 0; lane < std::min(lanes_, rows_ - group * lanes_); ++lane) {
          const auto row = static_cast<std::size_t>(group * lanes_ + lane);
          const double mean_logit = mean[static_cast<std::size_t>(lane)] / views_[v].row_total[row];
          const double nats = (views_[w].exact_log_sum[row] - mean_logit) * kLn2;
          terms[v == w ? 2 : v] += v == w ? 0.5 * nats : nats;
        }
      }
    }
    return terms;
  }

  // Tiles shared out over threads; every thread has its own sums, added up in the order of threads.
  Sums run(const simd::LossJob& job) {
    const std::int64_t threads = std::min<std::int64_t>(at::get_num_threads(), codes_.tiles());
    const std::int64_t size = groups_ * group_size_;
    std::vector<simd::LossJob> jobs(static_cast<std::size_t>(threads), job);
    std::vector<Sums> sums(jobs.size());
    std::vector<simd::AlignedFloats> weighted(2 * jobs.size());
    at::parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t thread = begin; thread < end; ++thread) {
        const auto t = static_cast<std::size_t>(thread);
        for (int v = 0; v < 2; ++v) {
          sums[t].along[v].assign(static_cast<std::size_t>(groups_ * lanes_), 0.0);
          jobs[t].along[v] = sums[t].along[v].data();
          if (!job.gradient) continue;
          auto& target = weighted[2 * t + static_cast<std::size_t>(v)];
          target = buffer(size);
          jobs[t].weighted[v] = target.get();
        }
        simd::loss_tiles(jobs[t], thread * codes_.tiles() / threads,
                         (thread + 1) * codes_.tiles() / threads);
        for (int v = 0; v < 2; ++v) {
          sums[t].prior[v] = jobs[t].prior_value[v];
          sums[t].prior_own[v] = jobs[t].prior_own[v];
        }
      }
    });
    for (std::size_t t = 1; t < sums.size(); ++t) {
      for (int v = 0; v < 2; ++v) {
        for (std::size_t row = 0; row < sums[0].along[v].size(); ++row)
          sums[0].along[v][row] += sums[t].along[v][row];
        sums[0].prior[v] += sums[t].prior[v];
        sums[0].prior_own[v] += sums[t].prior_own[v];
        if (!job.gradient) continue;
        float* to = weighted[static_cast<std::size_t>(v)].get();
        const float* from = weighted[2 * t + static_cast<std::size_t>(v)].get();
        for (std::int64_t i = 0; i < size; ++i) to[i] += from[i];
      }
    }
    if (job.gradient) {
      for (std::size_t v = 0; v < 2; ++v) views_[v].weighted = std::move(weighted[v]);
    }
    return std::move(sums[0]);
  }

  // dH_i = workers * scale * (sum_j g_ij w_j - r_i B_i + (cross_weight' / n) (B_i - B'_i)), where B
  // are the expected codes sum_j p_ij w_j, r_i = sum_j g_ij, and ' is the other view.
  void write_gradient(const simd::LossJob& job, const Sums& sums, int v, std::int64_t group,
                      float* gradient) const {
    const double workers = static_cast<double>(job.total_rows) / static_cast<double>(rows_);
    const View &view = views_[static_cast<std::size_t>(v)],
               &other = views_[static_cast<std::size_t>(1 - v)];
    const double direct = job.cross_weight[1 - v] / static_cast<double>(job.total_rows);
    for (std::int64_t row = group * lanes_; row < std::min(rows_, (group + 1) * lanes_); ++row) {
      const auto r = static_cast<std::size_t>(row);
      const std::int64_t at = group * group_size_ + row % lanes_;
      const auto own = static_cast<float>((direct - sums.along[v][r]) / view.row_total[r]);
      const auto others = static_cast<float>(direct / other.row_total[r]);
      const auto scale = static_cast<float>(scale_ * workers);
      for (std::int64_t k = 0; k < codes_.width; ++k) {
        const auto i = static_cast<std::size_t>(at + k * lanes_);
        gradient[row * codes_.width + k] =
            scale * (view.weighted[i] + own * view.expected[i] - others * other.expected[i]);
      }
    }
  }

  const simd::CodeView codes_;
  const std::int64_t rows_;
  const double scale_;
  const std::int64_t lanes_, groups_, group_size_;
  bool bounded_ = true;
  std::vector<View> views_;
};

void check_rows(const at::Tensor& h, const Dictionary& dictionary, const char* name) {
  CPL_CHECK(h.dim() == 2 && h.size(1) == dictionary.width(), "head: ", name, " must be rows x ",
            dictionary.width(), " (the dictionary's width), got ", h.sizes());
  CPL_CHECK(h.size(0) >= 1, "head: ", name, " has no rows");
  CPL_CHECK(h.device().is_cpu(), "head: ", name,
            " must be on the CPU for the fused loss; use code_loss_plain on other devices");
}

void check_options(const CodeLossOptions& options, std::int64_t codes) {
  CPL_CHECK(std::isfinite(options.beta) && options.beta >= 0,
            "head: beta must be a number >= 0, got ", options.beta);
  CPL_CHECK(std::isfinite(options.scale) && options.scale > 0,
            "head: scale must be a positive number, got ", options.scale);
  if (!options.target.defined()) return;
  CPL_CHECK(options.target.dim() == 1 && options.target.size(0) == codes,
            "head: the prior q must have one probability per code (", codes, "), got ",
            options.target.sizes());
  const double smallest = options.target.min().item<double>();
  const double sum = options.target.sum(at::kDouble).item<double>();
  CPL_CHECK(std::abs(sum - 1) < 1e-4, "head: the prior q must sum to 1, got ", sum);
  CPL_CHECK(options.prior == PriorForm::kForward ? smallest >= 0 : smallest > 0,
            "head: the prior q must be ",
            options.prior == PriorForm::kForward ? "non-negative" : "positive",
            ", its smallest entry is ", smallest);
}

struct FusedLoss : torch::autograd::Function<FusedLoss> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& h0, const at::Tensor& h1,
                                                const Dictionary* dictionary,
                                                const CodeLossOptions* options,
                                                WorkerGroup* workers, bool gradient) {
    const std::vector<at::Tensor> views = {h0.to(at::kFloat).contiguous(),
                                           h1.to(at::kFloat).contiguous()};
    FusedHead head(*dictionary, views, options->scale);
    head.normalise(true);
    FusedHead::Result result = head.loss(*options, gradient, *workers);
    const auto scalar = [](double value) { return at::scalar_tensor(value, at::kFloat); };
    const at::Tensor invariance = scalar(result.invariance), prior = scalar(result.prior);
    const at::Tensor entropy = scalar(result.entropy);
    context->mark_non_differentiable({invariance, prior, entropy, result.mean});
    if (gradient) {
      context->save_for_backward(
          {result.gradient[0].to(h0.scalar_type()), result.gradient[1].to(h1.scalar_type())});
    }
    return {scalar(options->beta * result.invariance + result.prior), invariance, prior, entropy,
            result.mean};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const at::Tensor none;
    return {saved[0] * upstream[0], saved[1] * upstream[0], none, none, none, none};
  }
};

}  // namespace

CodeLoss code_loss_fused(const at::Tensor& h0, const at::Tensor& h1, const Dictionary& dictionary,
                         const CodeLossOptions& options, WorkerGroup& workers) {
  check_rows(h0, dictionary, "h0");
  check_rows(h1, dictionary, "h1");
  CPL_CHECK(h0.size(0) == h1.size(0), "head: the two views must have as many rows, got ",
            h0.size(0), " and ", h1.size(0));
  check_options(options, dictionary.codes());
  const bool gradient = torch::GradMode::is_enabled() && (h0.requires_grad() || h1.requires_grad());
  auto out = FusedLoss::apply(h0, h1, &dictionary, &options, &workers, gradient);
  return {out[0], out[1], out[2], out[3], out[4]};
}

CodeAssignment assign_codes(const at::Tensor& h, const Dictionary& dictionary, double scale) {
  check_rows(h, dictionary, "h");
  const at::Tensor rows = h.detach().to(at::kFloat).contiguous();
  FusedHead head(dictionary, {rows}, scale);
  head.normalise(false);
  CodeAssignment result{at::empty({rows.size(0)}, at::kLong),
                        at::empty({rows.size(0)}, at::kFloat)};
  head.assign(result.code.data_ptr<std::int64_t>(), result.probability.data_ptr<float>());
  return result;
}

}  // namespace cpl
