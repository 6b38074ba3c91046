// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace offcpud {

// Who waited, as labels. An empty string means that the label does not apply and is left out.
// All values are valid UTF-8 and unescaped; escaping belongs to the exposition format.
struct SubjectLabels {
  std::string cgroup;        // v2 path as in /proc/PID/cgroup after "0::", or "(other)"
  std::string slice;         // deepest *.slice
  std::string unit;          // systemd unit, unescaped
  std::string container_id;  // bare hex
  std::string pod_uid;       // dashed

  friend bool operator==(const SubjectLabels&, const SubjectLabels&) = default;
};

// The pure part of attribution: labels of a cgroup path. Grammar and sources: docs/semantics.md.
SubjectLabels labels_of_cgroup(std::string_view path);

}  // namespace offcpud
