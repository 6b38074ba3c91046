// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "attribution/subject.h"

namespace offcpud {

// Adds the labels to a JSON object, except those that do not apply.
template <class Json>
void append_labels(Json& json, const SubjectLabels& labels) {
  json["cgroup"] = labels.cgroup;
  const auto append = [&](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  append("slice", labels.slice);
  append("unit", labels.unit);
  append("container_id", labels.container_id);
  append("pod_uid", labels.pod_uid);
}

}  // namespace offcpud
