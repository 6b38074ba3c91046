// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_place.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace offcpud {
namespace {

constexpr std::string_view kCompiled = "[jit]";

// As GCC and Clang name the body of a parallel region.
constexpr std::array<std::string_view, 2> kBodies = {"._omp_fn.", ".omp_outlined"};

// Java's own functions, in a perf map with slashes.
constexpr std::array<std::string_view, 8> kLibraryPackages = {"java.", "javax.", "jdk.", "sun.",
                                                              "java/", "javax/", "jdk/", "sun/"};

bool begins_with_one_of(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); });
}

PlaceNumber::Part part_of_compiled(std::string_view name) {
  using Part = PlaceNumber::Part;
  const bool is_method = name.find_first_of("./") != std::string_view::npos;
  if (!is_method || name.front() == '[') return Part::Interpreted;
  if (name.find("Unsafe.park") != std::string_view::npos ||
      name.find("LockSupport.park") != std::string_view::npos) {
    return Part::Park;
  }
  return begins_with_one_of(name, kLibraryPackages) ? Part::Library : Part::Java;
}

}  // namespace

PlaceNumber::Part PlaceNumber::part_of(const StackFrame& frame) {
  const std::string_view name = frame.function;
  if (frame.kernel || name.empty()) return Part::Any;
  if (frame.object == kCompiled) return part_of_compiled(name);
  if (name == "Unsafe_Park" || name == "ObjectMonitor::wait") return Part::Machine;
  const bool is_body = std::ranges::any_of(
      kBodies, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
  return is_body ? Part::Team : Part::Any;
}

void PlaceNumber::add(std::uint64_t name, Part part) {
  hash_ = hash_joined(hash_, name);
  has_frames_ = true;
  has_names_ = has_names_ && name != 0;
  switch (part) {
    case Part::Team:
      begin_inner(true);
      return add_inner(name);
    case Part::Java:
      begin_inner(false);
      is_java_ = true;
      application_ = name;
      return add_inner(name);
    case Part::Library:
    case Part::Interpreted:
      has_library_ = has_library_ || part == Part::Library;
      if (is_java_) library_ = name;
      return;
    case Part::Park:
      return;
    case Part::Machine:
      if (is_java_) {
        is_inner_ = true;
        caller_ = std::max<std::uint64_t>(hash_joined(hash_joined(basis_, application_), name), 1);
      }
      [[fallthrough]];
    case Part::Any:
      if (library_ != 0) add_inner(std::exchange(library_, 0));
      return add_inner(name);
  }
}

void PlaceNumber::begin_inner(bool counts) {
  inner_ = basis_;
  inner_has_names_ = true;
  library_ = 0;
  is_java_ = has_library_ = false;
  is_inner_ = counts;
  caller_ = 0;
}

void PlaceNumber::add_inner(std::uint64_t name) {
  inner_ = hash_joined(inner_, name);
  inner_has_names_ = inner_has_names_ && name != 0;
}

std::uint64_t PlaceNumber::number(bool reached_root) const {
  if (is_inner_) return inner_has_names_ ? std::max<std::uint64_t>(inner_, 1) : 0;
  if (!reached_root || !has_frames_ || !has_names_) return 0;
  return std::max<std::uint64_t>(hash_, 1);
}

}  // namespace offcpud
