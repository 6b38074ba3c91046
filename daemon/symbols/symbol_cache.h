// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_handle.h"
#include "symbols/demangle_cache.h"
#include "symbols/elf_symbols.h"
#include "symbols/frame_name.h"
#include "symbols/remembered_names.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// An object when it is first seen.
struct ObjectFile {
  UniqueFd fd;       // open for reading, for instance /proc/PID/map_files/START-END
  std::string path;  // as mapped, even if deleted; its last part is shown
  std::optional<RootDirectory> root;  // root of the process, to search for debug files
};

// "[libfoo.so+0x1234]": a place in an object without a known function.
std::string place_name(const std::string& object, std::uint64_t place);

// Names addresses in objects, even when processes have exited and files are gone. Objects with the
// same build-id and the same functions are stored once: a thousand containers have one libc. The
// build-id alone is not enough: whoever builds an object chooses its build-id, and could so choose
// the names of other containers' functions.
//
// Bounded: beyond Limits::bytes the least recently used functions are forgotten. When they are
// needed again, their objects are listed for the caller to pass once more; until then places that
// were asked for before keep their names. Owned by one thread; load() takes long.
class SymbolCache {
 public:
  struct Limits {
    std::size_t bytes = 40 << 20;            // of functions, their names and their bookkeeping
    std::size_t objects = 65536;             // beyond, the oldest are forgotten altogether
    std::size_t shown_bytes = 3 << 20;       // of names in the form in which they are shown
    std::size_t remembered_bytes = 2 << 20;  // of names of places that were asked for
  };

  explicit SymbolCache(const Limits& limits)
      : limits_(limits), demangled_(limits.shown_bytes), remembered_(limits.remembered_bytes) {}

  // Reads the object's functions. If that fails, the object has only offsets, and failures() counts
  // it.
  void load(ObjectId id, const ObjectFile& file);

  // The function at an offset in the file. For a calling frame, pass that of its return address
  // minus one, because the call may be the last instruction. Nothing: the object was never loaded.
  [[nodiscard]] std::optional<FrameName> resolve_offset(ObjectId id, std::uint64_t file_offset);

  // The ELF virtual address of an offset in the file. Nothing: the file was not read, or is
  // forgotten.
  [[nodiscard]] std::optional<std::uint64_t> address_of(ObjectId id,
                                                        std::uint64_t file_offset) const;

  // Objects whose functions were forgotten since the last call.
  [[nodiscard]] std::vector<ObjectId> take_forgotten() { return std::exchange(forgotten_, {}); }
  // Objects asked for since the last call that were forgotten or never loaded. A few hundred at
  // most.
  [[nodiscard]] std::set<ObjectId> take_missed() { return std::exchange(missed_, {}); }

  // What load() left out of an object since the last call.
  [[nodiscard]] ObjectRefusals take_refused() { return std::exchange(refused_, {}); }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  // Functions shared by objects.
  struct SymbolSet {
    ElfSymbols symbols;
    std::vector<ObjectId> users;
  };
  using Sets = std::list<SymbolSet>;  // most recently used first

  struct Object {
    std::string name;
    std::optional<Sets::iterator> symbols;
    bool forgotten = false;  // it had symbols
  };

  Object* touch(ObjectId id);
  void miss(ObjectId id);
  FrameName name_of(const Object& object, std::uint64_t address);
  Sets::iterator share(ElfSymbols symbols);
  void detach(ObjectId id, Object& object);
  void forget_oldest();
  void keep_within_limits();

  Limits limits_;
  DemangleCache demangled_;
  RememberedNames remembered_;
  std::map<ObjectId, Object> objects_;
  Sets sets_;
  std::unordered_multimap<std::string, Sets::iterator> by_build_id_;
  std::vector<ObjectId> forgotten_;
  std::set<ObjectId> missed_;
  std::size_t bytes_ = 0;
  std::uint64_t failures_ = 0;
  ObjectRefusals refused_;
};

}  // namespace offcpud
