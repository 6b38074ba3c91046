// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle_cache.h"

#include <utility>

#include "symbols/demangle.h"

namespace offcpud {

const std::string& DemangleCache::shown(std::string_view symbol) {
  std::string key(symbol);
  if (const auto found = young_.find(key); found != young_.end()) return found->second;

  const auto old = old_.find(key);
  std::string name = old != old_.end() ? std::move(old->second) : demangle(symbol);
  if (old != old_.end()) old_.erase(old);  // its bytes count until its generation is dropped
  constexpr std::size_t kNode = sizeof(Names::value_type) + 2 * sizeof(void*);
  const std::size_t size = kNode + key.size() + name.size();
  if (young_bytes_ + size > half_) {
    old_ = std::exchange(young_, {});
    old_bytes_ = std::exchange(young_bytes_, 0);
  }
  young_bytes_ += size;
  return young_.emplace(std::move(key), std::move(name)).first->second;
}

}  // namespace offcpud
