// SPDX-License-Identifier: Apache-2.0
#include "why/cause_parts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace offcpud {
namespace {

constexpr std::size_t kMostParts = 20;

double sum_of(const std::vector<Cause>& parts) {
  double sum = 0;
  for (const Cause& part : parts) sum += part.threads;
  return sum;
}

// The smallest parts beyond kMostParts become one.
void fold_parts(Cause& node) {
  if (node.parts.size() <= kMostParts) return;
  double folded = 0;
  while (node.parts.size() > kMostParts) {
    folded += node.parts.back().threads;
    node.parts.pop_back();
  }
  const auto others = std::ranges::find(node.parts, Cause::Kind::Others, &Cause::kind);
  if (others != node.parts.end()) {
    others->threads += folded;
  } else {
    node.parts.push_back(
        {.kind = Cause::Kind::Others, .for_kind = node.for_kind, .threads = folded});
  }
}

}  // namespace

bool is_any_lock(const std::string& site) {
  constexpr std::array<std::string_view, 5> kAny = {"", "mutex", "lock-of-libc", "kernel-lock",
                                                    "file-lock"};
  return std::ranges::find(kAny, site) != kAny.end();
}

bool is_not_yet(const std::string& because) {
  return because.starts_with(kOneLook) || because.starts_with(kNoLook) ||
         because.starts_with(kEndUnseen);
}

std::string_view unknown_or_not_yet(const std::string& because) {
  return is_not_yet(because) ? "not known yet" : "unknown";
}

void add_unknown(Cause& node, double threads, const std::string& because) {
  const auto known = std::ranges::find_if(node.parts, [&](const Cause& part) {
    return part.kind == Cause::Kind::Unknown && part.because == because;
  });
  if (known != node.parts.end()) {
    known->threads += threads;
    return;
  }
  node.parts.push_back({.kind = Cause::Kind::Unknown,
                        .for_kind = node.for_kind,
                        .threads = threads,
                        .because = because});
}

void fit(Cause& node, const std::string& because) {
  std::erase_if(node.parts, [](const Cause& part) { return part.threads <= kNothing; });
  const double claimed = sum_of(node.parts);
  const double scale = claimed > node.threads ? node.threads / claimed : 1;
  for (Cause& part : node.parts) {
    part.threads *= scale;
    part.error *= scale;
  }
  std::ranges::stable_sort(node.parts, std::ranges::greater(), &Cause::threads);
  fold_parts(node);
  const double rest = node.threads - sum_of(node.parts);
  if (rest > kNothing && rest > 1e-3 * node.threads) add_unknown(node, rest, because);
}

}  // namespace offcpud
