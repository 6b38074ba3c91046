// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace offcpud {

// Values of the label `cgroup` that are no path. "(removed)" stands below a path.
inline constexpr std::string_view kOtherCgroup = "(other)";
inline constexpr std::string_view kUnknownCgroup = "(unknown)";
inline constexpr std::string_view kRemovedCgroup = "(removed)";

// Whether it is the "(removed)" below some path.
inline bool is_removed_series(std::string_view path) {
  return path.ends_with("/" + std::string(kRemovedCgroup));
}

// Who waited, as labels. An empty string means that the label does not apply and is left out.
// All values are valid UTF-8 and unescaped; escaping belongs to the exposition format.
struct SubjectLabels {
  std::string cgroup;        // v2 path as in /proc/PID/cgroup after "0::", or "(other)"
  std::string slice;         // deepest *.slice
  std::string unit;          // deepest systemd unit that is not the scope of a container
  std::string container_id;  // bare hex, of the innermost container
  std::string pod_uid;       // dashed; of a static pod the 32 hex digits of its configuration

  friend bool operator==(const SubjectLabels&, const SubjectLabels&) = default;
};

// The pure part of attribution: labels of a cgroup path. Grammar and sources: docs/semantics.md.
//
// `unit` is the deepest unit because that is the one an operator can act on: a user's app rather
// than user@1000.service, the service inside a container rather than the container's own scope.
// A container's scope (docker-<id>.scope) is no unit here: `container_id` says the same, and a new
// value of `unit` for each container would only make series. The unit around a container stays,
// so a Quadlet's container keeps the name of its service.
SubjectLabels labels_of_cgroup(std::string_view path);

// The unit whose cgroup a directory is.
struct UnitName {
  std::string_view escaped;  // as systemd writes it, "a\\x2db.service"; empty: it is no unit's
  std::string text;          // what that stands for, "a-b.service"; empty: the same
};

// `top` is the name of the topmost directory if this one is right below it; else "".
UnitName unit_of_directory(std::string_view top, std::string_view directory);

}  // namespace offcpud
