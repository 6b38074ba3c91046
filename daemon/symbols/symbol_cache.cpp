// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_cache.h"

#include <algorithm>
#include <utility>

#include "base/deleted_path.h"
#include "base/text.h"
#include "symbols/demangle.h"

namespace offcpud {
namespace {

constexpr std::size_t kMaxObjectName = 128;

// Size of a set besides its functions: entries in the list, of build-ids and of users.
constexpr std::size_t kSetOverhead = 256;

// "/usr/lib/libc.so.6 (deleted)" gives "libc.so.6".
std::string name_of_path(std::string_view path) {
  (void)remove_deleted(path);
  path.remove_prefix(path.find_last_of('/') + 1);
  return shown_name(path.substr(0, kMaxObjectName));
}

FrameName unnamed(const std::string& object, std::uint64_t place) {
  return {place_name(object, place), NameSource::Offset};
}

Result<ElfSymbols> read_symbols(const ObjectFile& file) {
  std::vector<ElfSymbols::DebugRoot> roots;
  if (file.root) roots.push_back({&*file.root, file.path});
  return ElfSymbols::read(file.fd.get(), roots);
}

}  // namespace

std::string place_name(const std::string& object, std::uint64_t place) {
  return "[" + object + "+0x" + hexadecimal(place) + "]";
}

void SymbolCache::load(ObjectId id, const ObjectFile& file) {
  Object& object = objects_[id];
  object.name = name_of_path(file.path);
  object.forgotten = false;
  detach(id, object);
  auto symbols = read_symbols(file);
  if (!symbols) {
    ++failures_;
  } else {
    refused_ = symbols->refused();
    const Sets::iterator set = share(*std::move(symbols));
    set->users.push_back(id);
    object.symbols = set;
  }
  keep_within_limits();
}

// A set with the same build-id and functions, or a new one; moves it to the front.
SymbolCache::Sets::iterator SymbolCache::share(ElfSymbols symbols) {
  if (symbols.build_id().known()) {
    const auto [first, last] = by_build_id_.equal_range(symbols.build_id().hex());
    for (auto it = first; it != last; ++it) {
      if (!(it->second->symbols == symbols)) continue;
      sets_.splice(sets_.begin(), sets_, it->second);
      return it->second;
    }
  }
  bytes_ += symbols.bytes() + kSetOverhead;
  sets_.push_front({std::move(symbols), {}});
  const Sets::iterator set = sets_.begin();
  if (const BuildId& id = set->symbols.build_id(); id.known()) by_build_id_.emplace(id.hex(), set);
  return set;
}

// Unused functions become the first to be dropped.
void SymbolCache::detach(ObjectId id, Object& object) {
  if (!object.symbols) return;
  const Sets::iterator set = *std::exchange(object.symbols, std::nullopt);
  std::erase(set->users, id);
  if (set->users.empty()) sets_.splice(sets_.end(), sets_, set);
}

void SymbolCache::forget_oldest() {
  const Sets::iterator oldest = std::prev(sets_.end());
  for (const ObjectId id : oldest->users) {
    objects_[id].symbols.reset();
    objects_[id].forgotten = true;
    forgotten_.push_back(id);
  }
  const auto [first, last] = by_build_id_.equal_range(oldest->symbols.build_id().hex());
  const auto known =
      std::find_if(first, last, [&](const auto& entry) { return entry.second == oldest; });
  if (known != last) by_build_id_.erase(known);
  bytes_ -= oldest->symbols.bytes() + kSetOverhead;
  sets_.erase(oldest);
}

void SymbolCache::keep_within_limits() {
  while (objects_.size() > limits_.objects) {
    detach(objects_.begin()->first, objects_.begin()->second);
    objects_.erase(objects_.begin());
  }
  // The last set stays, however large: it was just used or read.
  while (bytes_ > limits_.bytes && sets_.size() > 1) forget_oldest();
}

void SymbolCache::miss(ObjectId id) {
  constexpr std::size_t kMost = 256;
  if (missed_.size() < kMost) missed_.insert(id);
}

SymbolCache::Object* SymbolCache::touch(ObjectId id) {
  const auto found = objects_.find(id);
  if (found == objects_.end() || found->second.forgotten) miss(id);
  if (found == objects_.end()) return nullptr;
  if (found->second.symbols) sets_.splice(sets_.begin(), sets_, *found->second.symbols);
  return &found->second;
}

std::optional<FrameName> SymbolCache::resolve_offset(ObjectId id, std::uint64_t file_offset) {
  const Object* object = touch(id);
  if (object == nullptr) return std::nullopt;
  if (!object->symbols) {
    const FrameName* const remembered = remembered_.find(id, file_offset);
    return remembered != nullptr ? *remembered : unnamed(object->name, file_offset);
  }
  const auto address = (*object->symbols)->symbols.address_of(file_offset);
  if (!address) return unnamed(object->name, file_offset);
  FrameName name = name_of(*object, *address);
  if (name.source != NameSource::Offset) remembered_.put(id, file_offset, name);
  return name;
}

std::optional<std::uint64_t> SymbolCache::address_of(ObjectId id, std::uint64_t file_offset) const {
  const auto object = objects_.find(id);
  if (object == objects_.end() || !object->second.symbols) return std::nullopt;
  return (*object->second.symbols)->symbols.address_of(file_offset);
}

FrameName SymbolCache::name_of(const Object& object, std::uint64_t address) {
  const auto found = (*object.symbols)->symbols.functions().find(address);
  if (!found) return unnamed(object.name, address);
  if (found->name.empty()) {
    return {object.name + "!fn_" + hexadecimal(found->start), NameSource::Frame};
  }
  return {demangled_.shown(found->name), NameSource::Symbol};
}

}  // namespace offcpud
