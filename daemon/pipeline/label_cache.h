// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "attribution/subject.h"

namespace offcpud {

// Labels by cgroup path, made once and shared as long as they are asked for. Single-threaded.
class LabelCache {
 public:
  // Never null.
  std::shared_ptr<const SubjectLabels> get(const std::string& path);

  // Drops the labels that nobody asked for since the last call.
  void forget_unused();

 private:
  struct Entry {
    std::shared_ptr<const SubjectLabels> labels;
    bool used = true;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace offcpud
