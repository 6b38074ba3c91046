// SPDX-License-Identifier: Apache-2.0
#include "pipeline/label_cache.h"

#include "pipeline/series_store.h"

namespace offcpud {

std::shared_ptr<const SubjectLabels> LabelCache::get(const std::string& path) {
  Entry& entry = entries_[path];
  if (!entry.labels) entry.labels = labels_of_series(path);
  entry.used = true;
  return entry.labels;
}

void LabelCache::forget_unused() {
  std::erase_if(entries_, [](const auto& item) { return !item.second.used; });
  for (auto& [path, entry] : entries_) entry.used = false;
}

}  // namespace offcpud
