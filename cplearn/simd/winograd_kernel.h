#pragma once
// Winograd's transforms for 3x3 convolutions, without torch. What they are for: winograd.h.
//
// An image is cut into windows. With P points, the convolution of a window is
//     output = AT ( (G kernel GT) * (BT window B) ) A        (* is element by element)
// and, summed over channels, the middle becomes P*P matrix products. Forward and backward need four
// transforms, each the product of a window with a small matrix from both sides:
//     input            window of the image  -> points     BT . B      "gather"
//     output           points -> window of the result     AT . A      "scatter"
//     output_adjoint   window of the result -> points      A . AT     "gather"
//     input_adjoint    points -> window of the image       B . BT     "scatter", windows overlap
// and the kernel two more: `kernel`, G . GT, and `kernel_adjoint`, GT . G.
//
// Layouts: maps are n x height x width x channels, points are point x tile x channels with steps of
// the caller's choice. The kernel is a map of 3 x 3 with in * out channels, in any order.

#include <cstdint>

#include "cplearn/simd/channels.h"

namespace cpl::simd {

enum class Winograd {
  kSame,     // 3x3, padding 1: 6x6 points per 4x4 outputs, 4 times fewer multiplications
  kPooled,   // the same followed by the mean of 2x2: 5x5 points per 2x2 outputs, 5.76 times fewer
  kStrided,  // 3x3, stride 2, padding 1: 5x5 points per 2x2 outputs, 1.44 times fewer
};

constexpr std::int64_t winograd_points(Winograd kind) { return kind == Winograd::kSame ? 36 : 25; }

// One stage for a group of images.
template <class T>  // float or double
struct WinogradJob {
  Winograd kind;
  std::int64_t images, height, width, channels;  // of `map`
  T* map;
  T* points;
  std::int64_t tile_step, point_step;      // elements from one tile, or point, to the next
  std::int64_t begin = 0, end = channels;  // the channels to work on
  // The input is activated as it is read: x > 0 ? x : slope * x. 1 for none.
  T slope = 1;
  // If set, per channel, the input is instead read as relu(x * scale + offset).
  const T* scale = nullptr;
  const T* offset = nullptr;
  const T* bias = nullptr;   // output: added, per channel; null for none
  const T* input = nullptr;  // input_adjoint: the input, for the derivative of the activation
};

// Windows of a map of the input's size; a window is the image's 4x4 pixels with a border of one.
constexpr std::int64_t winograd_tiles(std::int64_t height, std::int64_t width) {
  return ((height + 3) / 4) * ((width + 3) / 4);
}

template <class T>
void winograd_input(const WinogradJob<T>& job);
template <class T>
void winograd_output(const WinogradJob<T>& job);
template <class T>
void winograd_output_adjoint(const WinogradJob<T>& job);
template <class T>
void winograd_input_adjoint(const WinogradJob<T>& job);
template <class T>
void winograd_kernel(const WinogradJob<T>& job);
template <class T>
void winograd_kernel_adjoint(const WinogradJob<T>& job);

}  // namespace cpl::simd
