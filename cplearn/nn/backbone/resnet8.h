#pragma once
// The paper's ResNet-8 for 32x32 images: four residual blocks of two 3x3 convolutions, LeakyReLU
// 0.2 before each convolution except the very first, no batch norm, average pooling after blocks 1
// and 2, global mean at the end. Parameters: block1.conv1 ... block4.conv2, and block1.shortcut
// (1x1).
//
// Three identities make it faster at the same result (options.plain turns them off):
//  * A convolution followed by 2x2 average pooling is linear all the way, so the averaging can go
//    first: pool(conv3x3(x)) = conv3x3 with stride 2 of the 2x2 running mean of x. A quarter of the
//    multiplications, and the kernel stays the 3x3 parameters. The same holds inside a residual
//    block: pool(conv(x) + y) = pool(conv(x)) + pool(y).
//  * A convolution followed by the global mean is nine windowed sums and a matrix product.
//  * In float, winograd.h takes the rest down by four, the pooled ones by nearly six in all.

#include "cplearn/nn/backbone/backbone.h"

namespace cpl {

std::shared_ptr<Backbone> make_resnet8(const BackboneOptions& options);

}  // namespace cpl
