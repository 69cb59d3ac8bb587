#pragma once
// Points in the plane, grouped for Barnes and Hut's approximation: torch-free, rebuilt in every
// iteration of t-SNE.

#include <cstdint>
#include <vector>

namespace cpl {

// Bodies of one interaction list.
struct BodyList {
  std::vector<float> x, y, mass;

  void clear() {
    x.clear();
    y.clear();
    mass.clear();
  }
  void add(float at_x, float at_y, float with_mass) {
    x.push_back(at_x);
    y.push_back(at_y);
    mass.push_back(with_mass);
  }
};

class QuadTree {
 public:
  // Keeps its memory from one build to the next. x, y: n coordinates.
  void build(const float* x, const float* y, std::int64_t n);

  // Leaves hold the points, side by side in the tree's own order.
  struct Leaf {
    std::int64_t begin, end;
    float left, right, bottom, top;  // the box around its points
  };
  const std::vector<Leaf>& leaves() const { return leaves_; }
  const float* x() const { return x_.data(); }  // in the tree's order
  const float* y() const { return y_.data(); }
  std::int64_t original(std::int64_t i) const { return order_[i]; }  // its index before

  // What acts on the points of a leaf: cells whose size / distance is under `angle` as one body at
  // their centre of mass, the points of the others one by one (its own as well).
  void interactions(const Leaf& leaf, double angle, BodyList& list) const;

 private:
  struct Node {
    std::int32_t begin, end;
    std::int32_t first_child;  // -1: a leaf; children are next to each other, up to `children`
    std::int32_t children;
    float x, y, size;  // centre of mass, longer side of the box around the points
  };

  void split(std::int32_t node, float left, float bottom, float side, int depth);
  Node make_node(std::int64_t begin, std::int64_t end) const;

  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  std::vector<float> x_, y_, spare_x_, spare_y_;
  std::vector<std::int32_t> order_, spare_order_;
};

}  // namespace cpl
