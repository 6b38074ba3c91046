// SPDX-License-Identifier: Apache-2.0
// Tables of code that programs compile while they run, and so without a file.
#include <algorithm>
#include <utility>
#include <vector>

#include "unwind/table_store.h"

namespace offcpud {

Status TableStore::put_code(std::uint32_t tgid, std::uint64_t begin, std::uint64_t end,
                            const UnwindTable& table) {
  struct Part {
    std::uint64_t begin, end;
    UnwindObjectId object;
  };
  std::vector<Part> parts;
  if (const auto process = processes_.find(tgid); process != processes_.end() && begin < end) {
    for (const auto& [from, mapping] : process->second) {
      const std::uint64_t first = std::max(begin, from), last = std::min(end, mapping.end);
      if (first < last && is_without_file(mapping.object)) {
        parts.push_back({first, last, mapping.object});
      }
    }
  }
  if (parts.empty()) return {};
  const UnwindObjectId id = ++last_id_;
  Object& object = objects_[id];
  object.is_code = true;
  object.owner = user_of(tgid);
  object.segments = {{.file_offset = 0, .address = 0, .size = end - begin}};
  object.unused = unused_.insert(unused_.end(), id);
  Asking asking{.object = id,
                .owner = object.owner,
                .rows = table.rows.size(),
                .pages = table.pages.size(),
                .rules = table.rules.size(),
                .victims = {}};
  Status status = place(table, asking);
  for (const Part& part : parts) {
    if (status) status = add_mapping(tgid, part.begin, part.end, part.begin - begin, id);
  }
  for (const Part& part : parts) {
    if (auto removed = remove_code(part.object); !removed && status) status = std::move(removed);
  }
  if (auto removed = remove_code(id); !removed && status) status = std::move(removed);
  return status;
}

bool TableStore::is_without_file(UnwindObjectId id) const {
  if (id == OFFCPUD_UNWIND_NO_OBJECT) return true;
  const auto object = objects_.find(id);
  return object != objects_.end() && object->second.is_code;
}

// No later process can map it.
Status TableStore::remove_code(UnwindObjectId id) {
  const auto object = objects_.find(id);
  const bool is_left =
      object != objects_.end() && object->second.is_code && object->second.mappings == 0;
  return is_left ? remove_object(id) : Status();
}

}  // namespace offcpud
