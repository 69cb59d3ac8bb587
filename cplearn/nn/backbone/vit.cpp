#include "cplearn/nn/backbone/vit.h"

#include <torch/torch.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/nn/backbone/transformer_block.h"
#include "cplearn/nn/linear.h"

namespace cpl {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

constexpr int kDepth = 12;
constexpr double kStd = 0.02;
constexpr double kEpsilon = 1e-6;

// Normal with standard deviation kStd, cut at +-2 as in timm (100 deviations: practically never).
void truncated_normal_(const Tensor& tensor) {
  const torch::NoGradGuard guard;
  const double edge = std::erf(2 / kStd / std::sqrt(2.0));
  tensor.uniform_(-edge, edge).erfinv_().mul_(kStd * std::sqrt(2.0)).clamp_(-2, 2);
}

nn::Linear linear_layer(std::int64_t in, std::int64_t out) {
  nn::Linear layer(in, out);
  truncated_normal_(layer->weight);
  nn::init::zeros_(layer->bias);
  return layer;
}

nn::LayerNorm layer_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(kEpsilon));
}

class Attention : public nn::Module {
 public:
  Attention(std::int64_t width, std::int64_t heads)
      : heads_(heads),
        qkv_(register_module("qkv", linear_layer(width, 3 * width))),
        proj_(register_module("proj", linear_layer(width, width))) {}

  // x: n x tokens x width, and so is the result
  Tensor forward(const Tensor& x) {
    const auto n = x.size(0), tokens = x.size(1), width = x.size(2);
    const Tensor qkv =  // 3 x n x heads x tokens x width/heads
        qkv_(x).view({n, tokens, 3, heads_, width / heads_}).permute({2, 0, 3, 1, 4});
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads_));
    const Tensor weights = torch::matmul(qkv[0] * scale, qkv[1].transpose(-2, -1)).softmax(-1);
    return proj_(torch::matmul(weights, qkv[2]).transpose(1, 2).reshape({n, tokens, width}));
  }

 private:
  std::int64_t heads_;
  nn::Linear qkv_;
  nn::Linear proj_;
};

class Mlp : public nn::Module {
 public:
  explicit Mlp(std::int64_t width)
      : fc1_(register_module("fc1", linear_layer(width, 4 * width))),
        fc2_(register_module("fc2", linear_layer(4 * width, width))) {}

  Tensor forward(const Tensor& x) { return fc2_(torch::gelu(fc1_(x))); }

 private:
  nn::Linear fc1_;
  nn::Linear fc2_;
};

class VitBlock : public nn::Module {
 public:
  VitBlock(std::int64_t width, std::int64_t heads, double drop_path, bool plain)
      : heads_(heads),
        drop_path_(drop_path),
        plain_(plain),
        norm1_(register_module("norm1", layer_norm(width))),
        attn_(register_module("attn", std::make_shared<Attention>(width, heads))),
        norm2_(register_module("norm2", layer_norm(width))),
        mlp_(register_module("mlp", std::make_shared<Mlp>(width))) {}

  // n x tokens x width, or with `first_only` n x 1 x width
  Tensor forward(const Tensor& x, bool first_only) {
    const Tensor scale1 = drop_path_scale(x), scale2 = drop_path_scale(x);
    const auto all = parameters();
    if (!plain_ && transformer_block_supports(x, all, heads_))
      return transformer_block(x, all, {heads_, kEpsilon, first_only, scale1, scale2});
    const auto scaled = [](const Tensor& branch, const Tensor& scale) {
      return scale.defined() ? branch * scale : branch;
    };
    Tensor y = x + scaled(attn_->forward(norm1_(x)), scale1);
    if (first_only && !plain_) y = y.narrow(1, 0, 1);
    return y + scaled(mlp_->forward(norm2_(y)), scale2);
  }

 private:
  // Stochastic depth: leaves a whole branch out for some samples, and scales up the others.
  Tensor drop_path_scale(const Tensor& x) const {
    if (!is_training() || drop_path_ == 0) return {};
    const double keep = 1 - drop_path_;
    return torch::empty({x.size(0), 1, 1}, x.options()).bernoulli_(keep).div_(keep);
  }

  std::int64_t heads_;
  double drop_path_;
  bool plain_;
  nn::LayerNorm norm1_;
  std::shared_ptr<Attention> attn_;
  nn::LayerNorm norm2_;
  std::shared_ptr<Mlp> mlp_;
};

class PatchEmbed : public nn::Module {
 public:
  PatchEmbed(std::int64_t patch, std::int64_t width, bool plain)
      : patch_(patch),
        plain_(plain),
        proj_(register_module("proj",
                              nn::Conv2d(nn::Conv2dOptions(3, width, patch).stride(patch)))) {}

  // n x 3 x h x w -> n x patches x width
  Tensor forward(const Tensor& images) {
    if (plain_) return proj_(images).flatten(2).transpose(1, 2);
    // Patches do not overlap: the convolution is a product with a row of pixels per patch.
    const Tensor patches =  // n x 3 x rows x columns x patch x patch
        images.unfold(2, patch_, patch_).unfold(3, patch_, patch_);
    return linear(patches.permute({0, 2, 3, 1, 4, 5}).flatten(3).flatten(1, 2),
                  proj_->weight.flatten(1), proj_->bias);
  }

 private:
  std::int64_t patch_;
  bool plain_;
  nn::Conv2d proj_;
};

class VisionTransformer : public Backbone {
 public:
  VisionTransformer(std::int64_t width, std::int64_t heads, const BackboneOptions& options)
      : width_(width), patch_(options.patch_size), grid_(options.image_size / options.patch_size) {
    CPL_CHECK(patch_ > 0 && grid_ > 0 && options.image_size % patch_ == 0, "an image size of ",
              options.image_size, " is not a multiple of the patch size ", patch_,
              ": change image_size or patch_size");
    CPL_CHECK(options.drop_path >= 0 && options.drop_path < 1, "drop_path is ", options.drop_path,
              ", expected a chance from 0 to less than 1");
    cls_token_ = register_parameter("cls_token", torch::empty({1, 1, width}));
    pos_embed_ = register_parameter("pos_embed", torch::empty({1, grid_ * grid_ + 1, width}));
    truncated_normal_(cls_token_);
    truncated_normal_(pos_embed_);
    patch_embed_ =
        register_module("patch_embed", std::make_shared<PatchEmbed>(patch_, width, options.plain));
    auto list = register_module("blocks", nn::ModuleList());
    for (int i = 0; i < kDepth; ++i) {
      blocks_.push_back(std::make_shared<VitBlock>(
          width, heads, options.drop_path * i / (kDepth - 1), options.plain));
      list->push_back(blocks_.back());
    }
    norm_ = register_module("norm", layer_norm(width));
  }

  std::int64_t features() const override { return width_; }

  Tensor forward(const Tensor& images) override { return probe_features(images, 1); }

  Tensor probe_features(const Tensor& images, std::int64_t blocks) override {
    CPL_CHECK(blocks >= 1 && blocks <= kDepth, "asked for the last ", blocks,
              " blocks, expected 1 to ", kDepth);
    Tensor x = tokens(images);
    std::vector<Tensor> cls;
    for (int i = 0; i < kDepth; ++i) {
      x = blocks_[i]->forward(x, i == kDepth - 1);
      // The norm acts on each token alone: only the CLS tokens need it.
      if (i >= kDepth - blocks) cls.push_back(norm_(x.select(1, 0)));
    }
    return torch::cat(cls, 1);
  }

 private:
  Tensor tokens(const Tensor& images) {
    const auto h = images.size(2) / patch_, w = images.size(3) / patch_;
    CPL_CHECK(h > 0 && w > 0, "images of ", images.size(2), "x", images.size(3),
              " are smaller than a patch of ", patch_, "x", patch_);
    const Tensor cls = cls_token_.expand({images.size(0), 1, width_});
    return torch::cat({cls, patch_embed_->forward(images)}, 1) + positions(h, w);
  }

  // The position table, resampled for another grid exactly as DINO does. (The 0.1 guards the size
  // of the result against rounding; it also shifts the samples a little, and trained weights expect
  // it.)
  Tensor positions(std::int64_t h, std::int64_t w) const {
    if (h == grid_ && w == grid_) return pos_embed_;
    const Tensor table =
        pos_embed_.slice(1, 1).view({1, grid_, grid_, width_}).permute({0, 3, 1, 2});
    const auto options =
        nn::functional::InterpolateFuncOptions()
            .scale_factor(std::vector<double>{(h + 0.1) / grid_, (w + 0.1) / grid_})
            .mode(torch::kBicubic)
            .align_corners(false)
            .recompute_scale_factor(false);
    const Tensor resampled = nn::functional::interpolate(table, options);
    return torch::cat({pos_embed_.slice(1, 0, 1), resampled.flatten(2).transpose(1, 2)}, 1);
  }

  std::int64_t width_;
  std::int64_t patch_;
  std::int64_t grid_;  // patches along a side of a training image
  Tensor cls_token_;   // 1 x 1 x width
  Tensor pos_embed_;   // 1 x (1 + grid^2) x width, the first row for the CLS token
  std::shared_ptr<PatchEmbed> patch_embed_;
  std::vector<std::shared_ptr<VitBlock>> blocks_;
  nn::LayerNorm norm_{nullptr};
};

}  // namespace

std::shared_ptr<Backbone> make_vit_tiny(const BackboneOptions& options) {
  return std::make_shared<VisionTransformer>(192, 3, options);
}

std::shared_ptr<Backbone> make_vit_small(const BackboneOptions& options) {
  return std::make_shared<VisionTransformer>(384, 6, options);
}

}  // namespace cpl
