#include "cplearn/nn/backbone/resnet.h"

#include <torch/torch.h>

#include "cplearn/base/error.h"
#include "cplearn/nn/backbone/batch_norm.h"
#include "cplearn/nn/backbone/winograd.h"

namespace cpl {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

nn::Conv2d conv(std::int64_t in, std::int64_t out, int kernel, int stride, std::int64_t padding) {
  nn::Conv2d layer(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
  nn::init::kaiming_normal_(layer->weight, 0, torch::kFanOut, torch::kReLU);
  return layer;
}

bool by_winograd(const nn::Conv2d& layer, const Tensor& x, bool plain) {
  return !plain && layer->options.kernel_size()->at(0) == 3 && winograd_supports(x, layer->weight);
}

Winograd kind_of(const nn::Conv2d& layer) {
  return layer->options.stride()->at(0) == 1 ? Winograd::kSame : Winograd::kStrided;
}

Tensor convolve(nn::Conv2d& layer, const Tensor& x, bool plain) {
  if (by_winograd(layer, x, plain)) return winograd_conv(x, layer->weight, {}, kind_of(layer), 1);
  return layer(x);
}

// layer(relu(norm(x)))
Tensor convolve(nn::Conv2d& layer, nn::BatchNorm2d& norm, const Tensor& x, bool plain) {
  if (by_winograd(layer, x, plain) && normalise_supports(norm, x)) {
    return normalised_conv(norm, x, layer->weight, kind_of(layer));
  }
  return convolve(layer, normalise(norm, x, {}, true, plain), plain);
}

// Two 3x3 convolutions, or 1x1 - 3x3 - 1x1 (bottleneck) with four times as many channels at the
// end.
class ResidualBlock : public nn::Module {
 public:
  ResidualBlock(std::int64_t in, std::int64_t width, int stride, bool bottleneck, bool plain)
      : plain_(plain) {
    const std::int64_t out = bottleneck ? 4 * width : width;
    if (bottleneck) {
      add(conv(in, width, 1, 1, 0));
      add(conv(width, width, 3, stride, 1));  // torchvision strides here, the paper before
      add(conv(width, out, 1, 1, 0));
    } else {
      add(conv(in, width, 3, stride, 1));
      add(conv(width, width, 3, 1, 1));
    }
    if (stride != 1 || in != out) {
      shortcut_conv_ = conv(in, out, 1, stride, 0);
      shortcut_norm_ = nn::BatchNorm2d(out);
      register_module("downsample", nn::Sequential(shortcut_conv_, shortcut_norm_));
    }
  }

  Tensor forward(const Tensor& x) {
    Tensor y = convolve(convs_[0], x, plain_);
    for (std::size_t i = 1; i < convs_.size(); ++i)
      y = convolve(convs_[i], norms_[i - 1], y, plain_);
    Tensor skip = x;
    if (shortcut_conv_) {
      skip = normalise(shortcut_norm_, convolve(shortcut_conv_, x, plain_), {}, false, plain_);
    }
    return normalise(norms_.back(), y, skip, true, plain_);
  }

 private:
  void add(nn::Conv2d layer) {
    const std::size_t number = convs_.size() + 1;
    convs_.push_back(register_module(str("conv", number), layer));
    norms_.push_back(
        register_module(str("bn", number), nn::BatchNorm2d(layer->options.out_channels())));
  }

  bool plain_;
  std::vector<nn::Conv2d> convs_;
  std::vector<nn::BatchNorm2d> norms_;
  nn::Conv2d shortcut_conv_{nullptr};
  nn::BatchNorm2d shortcut_norm_{nullptr};
};

class ResNet : public Backbone {
 public:
  ResNet(const std::vector<int>& depths, bool bottleneck, const BackboneOptions& options)
      : features_(bottleneck ? 2048 : 512),
        imagenet_(options.stem == "imagenet"),
        plain_(options.plain) {
    CPL_CHECK(imagenet_ || options.stem == "cifar", "there is no stem ", options.stem,
              ": choose cifar (32x32 images) or imagenet (224x224 images)");
    CPL_CHECK(options.stem_padding >= 1 && options.stem_padding <= 2, "stem_padding is ",
              options.stem_padding, ", expected 1 or 2");
    conv1_ = register_module(
        "conv1", imagenet_ ? conv(3, 64, 7, 2, 3) : conv(3, 64, 3, 1, options.stem_padding));
    bn1_ = register_module("bn1", nn::BatchNorm2d(64));
    std::int64_t in = 64;
    for (std::size_t i = 0; i < depths.size(); ++i) {
      const std::int64_t width = 64 << i;
      nn::Sequential layer;
      for (int j = 0; j < depths[i]; ++j) {
        layer->push_back(std::make_shared<ResidualBlock>(in, width, i > 0 && j == 0 ? 2 : 1,
                                                         bottleneck, options.plain));
        in = bottleneck ? 4 * width : width;
      }
      layers_.push_back(register_module(str("layer", i + 1), layer));
    }
  }

  std::int64_t features() const override { return features_; }

  Tensor forward(const Tensor& images) override {
    const Tensor x = conv1_(images.contiguous(at::MemoryFormat::ChannelsLast));
    Tensor y = normalise(bn1_, x, {}, true, plain_);
    if (imagenet_) y = torch::max_pool2d(y, 3, 2, 1);
    for (auto& layer : layers_) y = layer->forward(y);
    return y.mean({2, 3});
  }

 private:
  std::int64_t features_;
  bool imagenet_, plain_;
  nn::Conv2d conv1_{nullptr};
  nn::BatchNorm2d bn1_{nullptr};
  std::vector<nn::Sequential> layers_;
};

}  // namespace

std::shared_ptr<Backbone> make_resnet18(const BackboneOptions& options) {
  return std::make_shared<ResNet>(std::vector<int>{2, 2, 2, 2}, false, options);
}

std::shared_ptr<Backbone> make_resnet50(const BackboneOptions& options) {
  return std::make_shared<ResNet>(std::vector<int>{3, 4, 6, 3}, true, options);
}

}  // namespace cpl
