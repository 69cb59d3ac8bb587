#pragma once
// Moving pixels: reflecting borders, crops, mirrors, and Pillow's resize.
//
// The definitions are those of torchvision 0.14 on PIL pictures, which is what the published
// recipes run on, to the last bit. OpenCV's resize differs (no antialiasing for bicubic, other
// rounding), so resizing is Pillow's algorithm: weights in double, 22-bit fixed point, rounded to 8
// bits after each direction.

#include <cstdint>
#include <vector>

#include "cplearn/data/image.h"

namespace cpl {

enum class Filter { kBilinear, kBicubic };

struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

// torchvision Pad(border, padding_mode="reflect"): the edge pixel is not repeated.
void pad_reflect(const Image& in, int border, Image& out);

void crop(const Image& in, const Box& box, Image& out);

void flip_horizontal(Image& image);

// The part inside `box` resized to width x height, as PIL's crop() then resize(): nothing outside
// the box is looked at. Holds its tables, so that repeated use does not allocate. Not thread-safe.
class Resizer {
 public:
  void resize(const Image& in, const Box& box, int width, int height, Filter filter, Image& out);

 private:
  // For each output position: the first input and the weights of `taps` inputs from there on.
  struct Axis {
    int taps = 0;
    std::vector<int> first;
    std::vector<int> count;
    std::vector<std::int32_t> weights;
    std::vector<double> scratch;
    void prepare(int in_size, int out_size, Filter filter);
  };
  Axis horizontal_, vertical_;
  Image between_;
  std::vector<std::int32_t> sums_;
};

// torchvision Resize(side): the shorter side becomes `side`, the other keeps the proportions.
struct Size {
  int width = 0;
  int height = 0;
};
Size shorter_side_to(int side, int width, int height);

// torchvision CenterCrop's box for a picture at least size x size large.
Box centre_box(int size, int width, int height);

}  // namespace cpl
