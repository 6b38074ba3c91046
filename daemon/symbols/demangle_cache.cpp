// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle_cache.h"

#include <utility>

#include "symbols/demangle.h"

namespace offcpud {

const std::string& DemangleCache::shown(std::string_view symbol) {
  const auto bytes_of = [](const std::string& key, const std::string& name) {
    return decltype(names_)::kNode + key.size() + name.size();
  };
  std::string key(symbol);
  if (const std::string* const known = names_.find(key, bytes_of)) return *known;
  std::string name = demangle(symbol);
  const std::size_t bytes = bytes_of(key, name);
  return names_.put(std::move(key), std::move(name), bytes);
}

}  // namespace offcpud
