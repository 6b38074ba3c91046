// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_colors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace offcpud {
namespace {

struct Color {
  double red, green, blue;
};

constexpr Color kSame{219, 219, 219};
constexpr Color kMore{240, 95, 84};
constexpr Color kLess{96, 152, 240};

Color mixed(const Color& a, const Color& b, double share_of_b) {
  const auto mix = [share_of_b](double x, double y) { return x + (y - x) * share_of_b; };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

Color color_of(FlameKind kind) {
  switch (kind) {
    case FlameKind::Root:
      return {214, 214, 214};
    case FlameKind::Process:
      return {194, 194, 194};
    case FlameKind::User:
      return {150, 198, 240};
    case FlameKind::Kernel:
      return {245, 186, 100};
    case FlameKind::Waker:
      return {140, 214, 178};
    case FlameKind::Separator:
    case FlameKind::InProgress:
      break;
  }
  return {160, 160, 160};
}

// 0 to 1, the same for the same name everywhere.
double shade(const std::string& name) {
  std::uint32_t hash = 0;
  for (const char c : name) hash = (hash * 31 + static_cast<unsigned char>(c)) % 997;
  return hash / 997.0;
}

std::string hex(const Color& color) {
  std::array<char, 8> text{};
  (void)std::snprintf(text.data(), text.size(), "#%02x%02x%02x",
                      static_cast<unsigned>(std::lround(color.red)) & 0xffU,
                      static_cast<unsigned>(std::lround(color.green)) & 0xffU,
                      static_cast<unsigned>(std::lround(color.blue)) & 0xffU);
  return text.data();
}

}  // namespace

std::string flame_fill(const FlameTree& tree, const FlameTree::Node& node) {
  const FlameFrame& frame = tree.frames[node.frame];
  if (frame.kind == FlameKind::InProgress) return "url(#in-progress)";
  if (!tree.is_difference || frame.kind == FlameKind::Separator) {
    return hex(mixed(color_of(frame.kind), {255, 255, 255}, 0.3 * shade(frame.name)));
  }
  const auto now = static_cast<double>(node.ns);
  const auto before = static_cast<double>(node.before_ns);
  const double largest = std::max(now, before);
  const double change = largest > 0 ? (now - before) / largest : 0;
  return hex(mixed(kSame, change > 0 ? kMore : kLess, std::abs(change)));
}

}  // namespace offcpud
