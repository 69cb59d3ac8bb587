#include "cplearn/nn/backbone/resnet8.h"

#include <torch/torch.h>

#include <array>

#include "cplearn/base/error.h"
#include "cplearn/nn/backbone/winograd.h"
#include "cplearn/nn/linear.h"

namespace cpl {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

constexpr int kBlocks = 4;
constexpr int kPooledBlocks = 2;  // the first two
constexpr double kSlope = 0.2;

Tensor activate(const Tensor& x) { return torch::leaky_relu(x, kSlope); }
Tensor activate_(Tensor x) { return torch::leaky_relu_(x, kSlope); }  // for what nobody else reads
Tensor pool(const Tensor& x) { return torch::avg_pool2d(x, 2); }

// Mean of each 2x2 window at every position, zeros around: h x w -> (h+1) x (w+1).
Tensor running_mean(const Tensor& x) { return torch::avg_pool2d(x, 2, 1, 1); }

// conv(activate(x))
Tensor activated_conv(const nn::Conv2d& conv, const Tensor& x) {
  if (winograd_supports(x, conv->weight)) {
    return winograd_conv(x, conv->weight, conv->bias, Winograd::kSame, kSlope);
  }
  return torch::conv2d(activate(x), conv->weight, conv->bias, 1, 1);
}

// pool(conv(activate(x)))
Tensor activated_pooled_conv(const nn::Conv2d& conv, const Tensor& x) {
  if (winograd_supports(x, conv->weight)) {
    return winograd_conv(x, conv->weight, conv->bias, Winograd::kPooled, kSlope);
  }
  return torch::conv2d(running_mean(activate(x)), conv->weight, conv->bias, 2);
}

// x summed along `dim`, as the three taps of a padded kernel see it: all but the last, all, all but
// the first. The new dimension of size 3 takes the place of `dim`.
Tensor tap_sums(const Tensor& x, std::int64_t dim) {
  const Tensor all = x.sum(dim);
  return torch::stack({all - x.select(dim, -1), all, all - x.select(dim, 0)}, dim);
}

// conv(x).mean({2, 3}), 3x3 with padding 1.
Tensor averaged_conv(const nn::Conv2d& conv, const Tensor& x) {
  const Tensor taps = tap_sums(tap_sums(x, 2), 3);  // n x in x 3 x 3
  const double positions = static_cast<double>(x.size(2) * x.size(3));
  return linear(taps.flatten(1) / positions, conv->weight.flatten(1), conv->bias);
}

class ResNet8Block : public nn::Module {
 public:
  ResNet8Block(std::int64_t in, std::int64_t width)
      : conv1(register_module("conv1", make(in, width, 3))),
        conv2(register_module("conv2", make(width, width, 3))) {
    if (in != width) shortcut = register_module("shortcut", make(in, width, 1));
  }

  nn::Conv2d conv1;
  nn::Conv2d conv2;
  nn::Conv2d shortcut{nullptr};

 private:
  static nn::Conv2d make(std::int64_t in, std::int64_t out, int kernel) {
    nn::Conv2d layer(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
    nn::init::xavier_uniform_(layer->weight);
    nn::init::zeros_(layer->bias);
    return layer;
  }
};

class ResNet8 : public Backbone {
 public:
  explicit ResNet8(const BackboneOptions& options)
      : width_(options.width), final_activation_(options.final_activation), plain_(options.plain) {
    CPL_CHECK(width_ >= 1, "the width of resnet8 is ", width_, ", expected at least 1");
    for (int i = 0; i < kBlocks; ++i) {
      blocks_[i] = register_module(str("block", i + 1),
                                   std::make_shared<ResNet8Block>(i == 0 ? 3 : width_, width_));
    }
  }

  std::int64_t features() const override { return width_; }

  Tensor forward(const Tensor& images) override {
    CPL_CHECK(images.size(2) % 4 == 0 && images.size(3) % 4 == 0, "resnet8 got images of ",
              images.size(2), "x", images.size(3), ", expected multiples of 4: resize them");
    const Tensor x = images.contiguous(at::MemoryFormat::ChannelsLast);
    return plain_ ? forward_plain(x) : forward_fast(x);
  }

 private:
  // The definition.
  Tensor forward_plain(const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < kBlocks; ++i) {
      ResNet8Block& block = *blocks_[i];
      const bool pools = i < kPooledBlocks;
      Tensor z = block.conv2(activate(block.conv1(i == 0 ? y : activate(y))));
      z = pools ? pool(z) : z;
      const Tensor skip = pools ? pool(y) : y;
      y = z + (block.shortcut ? block.shortcut(skip) : skip);
    }
    return (final_activation_ ? activate(y) : y).mean({2, 3});
  }

  Tensor forward_fast(const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < kBlocks; ++i) {
      ResNet8Block& block = *blocks_[i];
      const bool pools = i < kPooledBlocks;
      const Tensor z = i == 0 ? block.conv1(y) : activated_conv(block.conv1, y);
      const Tensor skip = pools ? pool(y) : y;
      if (i == kBlocks - 1 && !final_activation_) {
        return averaged_conv(block.conv2, activate_(z)) + skip.mean({2, 3});
      }
      y = pools ? activated_pooled_conv(block.conv2, z) : activated_conv(block.conv2, z);
      y += block.shortcut ? block.shortcut(skip) : skip;
    }
    return activate_(y).mean({2, 3});
  }

  std::int64_t width_;
  bool final_activation_;
  bool plain_;
  std::array<std::shared_ptr<ResNet8Block>, kBlocks> blocks_;
};

}  // namespace

std::shared_ptr<Backbone> make_resnet8(const BackboneOptions& options) {
  return std::make_shared<ResNet8>(options);
}

}  // namespace cpl
