// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace offcpud {

// Values of the label `cgroup` that are not paths of cgroups. "(removed)" is used below a path.
inline constexpr std::string_view kOtherCgroup = "(other)";
inline constexpr std::string_view kUnknownCgroup = "(unknown)";
inline constexpr std::string_view kRemovedCgroup = "(removed)";

// Whether the value is such a word in parentheses, not the name of a cgroup or unit.
inline bool is_no_name(std::string_view value) {
  return value.starts_with('(');
}

// Whether `path` is the "(removed)" below some path.
inline bool is_removed_series(std::string_view path) {
  return path.ends_with("/" + std::string(kRemovedCgroup));
}

// Whose waits they are, as labels. An empty label does not apply and is left out. Values are valid
// UTF-8 and unescaped; the exposition format escapes them.
struct SubjectLabels {
  std::string cgroup;        // v2 path as in /proc/PID/cgroup after "0::", or "(other)"
  std::string slice;         // deepest *.slice
  std::string unit;          // deepest systemd unit that is not the scope of a container
  std::string container_id;  // bare hex digits, of the innermost container
  std::string pod_uid;       // dashed; of a static pod, the 32 hex digits of its configuration

  friend bool operator==(const SubjectLabels&, const SubjectLabels&) = default;
};

// Labels of a cgroup path. A pure function. What they mean is in docs/semantics.md, "Whose wait it
// is"; which names of cgroups they come from, in cgroup_name.cpp.
//
// `unit` is the deepest unit because operators can act on that one: a user's app rather than
// user@1000.service, the service inside a container rather than the container's scope. The scope of
// a container (docker-<id>.scope) is not a unit here: `container_id` says the same, and each
// container would add series. The unit around a container is kept, so a Quadlet's container has the
// name of its service.
SubjectLabels labels_of_cgroup(std::string_view path);

// The unit that a cgroup directory belongs to.
struct UnitName {
  std::string_view escaped;  // as systemd writes it, "a\\x2db.service"; empty: no unit here
  std::string text;          // unescaped, "a-b.service"; empty: the same as `escaped`
};

// `top`: name of the topmost directory if this one is directly below it; else "".
UnitName unit_of_directory(std::string_view top, std::string_view directory);

}  // namespace offcpud
