#include "cplearn/eval/quad_tree.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace cpl {
namespace {

constexpr std::int64_t kLeaf = 16;  // points; lists are made once per leaf and shared by its points
constexpr int kDepth = 48;          // equal points cannot be split

}  // namespace

QuadTree::Node QuadTree::make_node(std::int64_t begin, std::int64_t end) const {
  double sum_x = 0, sum_y = 0;
  float left = x_[begin], right = left, bottom = y_[begin], top = bottom;
  for (std::int64_t i = begin; i < end; ++i) {
    sum_x += x_[i];
    sum_y += y_[i];
    left = std::min(left, x_[i]);
    right = std::max(right, x_[i]);
    bottom = std::min(bottom, y_[i]);
    top = std::max(top, y_[i]);
  }
  const auto count = static_cast<double>(end - begin);
  return {static_cast<std::int32_t>(begin),
          static_cast<std::int32_t>(end),
          -1,
          0,
          static_cast<float>(sum_x / count),
          static_cast<float>(sum_y / count),
          std::max(right - left, top - bottom)};
}

void QuadTree::build(const float* x, const float* y, std::int64_t n) {
  x_.assign(x, x + n);
  y_.assign(y, y + n);
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  spare_x_.resize(n);
  spare_y_.resize(n);
  spare_order_.resize(n);
  nodes_.clear();
  leaves_.clear();
  if (n == 0) return;
  const auto [left, right] = std::minmax_element(x_.begin(), x_.end());
  const auto [bottom, top] = std::minmax_element(y_.begin(), y_.end());
  nodes_.push_back(make_node(0, n));
  split(0, *left, *bottom, std::max(*right - *left, *top - *bottom), 0);
}

void QuadTree::split(std::int32_t node, float left, float bottom, float side, int depth) {
  const std::int64_t begin = nodes_[node].begin, end = nodes_[node].end;
  if (end - begin <= kLeaf || depth == kDepth) {
    const auto [low_x, high_x] = std::minmax_element(x_.begin() + begin, x_.begin() + end);
    const auto [low_y, high_y] = std::minmax_element(y_.begin() + begin, y_.begin() + end);
    leaves_.push_back({begin, end, *low_x, *high_x, *low_y, *high_y});
    return;
  }
  const float half = side / 2, middle_x = left + half, middle_y = bottom + half;
  const auto quadrant = [&](std::int64_t i) { return (x_[i] > middle_x) + 2 * (y_[i] > middle_y); };
  std::array<std::int64_t, 5> start{};
  for (std::int64_t i = begin; i < end; ++i) ++start[quadrant(i) + 1];
  start[0] = begin;
  for (int q = 1; q <= 4; ++q) start[q] += start[q - 1];
  std::array<std::int64_t, 4> next{start[0], start[1], start[2], start[3]};
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t to = next[quadrant(i)]++;
    spare_x_[to] = x_[i];
    spare_y_[to] = y_[i];
    spare_order_[to] = order_[i];
  }
  std::copy(spare_x_.begin() + begin, spare_x_.begin() + end, x_.begin() + begin);
  std::copy(spare_y_.begin() + begin, spare_y_.begin() + end, y_.begin() + begin);
  std::copy(spare_order_.begin() + begin, spare_order_.begin() + end, order_.begin() + begin);

  const auto first = static_cast<std::int32_t>(nodes_.size());
  std::array<int, 4> quadrants{};
  int children = 0;
  for (int q = 0; q < 4; ++q) {
    if (start[q] == start[q + 1]) continue;
    nodes_.push_back(make_node(start[q], start[q + 1]));
    quadrants[children++] = q;
  }
  nodes_[node].first_child = first;
  nodes_[node].children = children;
  for (int child = 0; child < children; ++child)
    split(first + child, (quadrants[child] & 1) ? middle_x : left,
          (quadrants[child] & 2) ? middle_y : bottom, half, depth + 1);
}

void QuadTree::interactions(const Leaf& leaf, double angle, BodyList& list) const {
  list.clear();
  const auto angle_squared = static_cast<float>(angle * angle);
  std::array<std::int32_t, 4 * (kDepth + 1)> stack;  // depth-first: 3 siblings wait per level
  int waiting = 0;
  stack[waiting++] = 0;
  while (waiting > 0) {
    const Node& node = nodes_[stack[--waiting]];
    // From the nearest point of the leaf's box: right for all its points.
    const float dx = std::max({leaf.left - node.x, node.x - leaf.right, 0.0f});
    const float dy = std::max({leaf.bottom - node.y, node.y - leaf.top, 0.0f});
    if (node.size * node.size < angle_squared * (dx * dx + dy * dy)) {
      list.add(node.x, node.y, static_cast<float>(node.end - node.begin));
    } else if (node.first_child < 0) {
      for (std::int32_t i = node.begin; i < node.end; ++i) list.add(x_[i], y_[i], 1);
    } else {
      for (int child = 0; child < node.children; ++child)
        stack[waiting++] = node.first_child + child;
    }
  }
}

}  // namespace cpl
