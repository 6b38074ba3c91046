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
#include "symbols/rooted_path.h"

namespace offcpud {

// An object that was seen; never used again for another one. 0 is none.
using ObjectId = std::uint64_t;

// An object as it is handed over, when it is first seen.
struct ObjectFile {
  UniqueFd fd;                        // open for reading, such as of /proc/PID/map_files/START-END
  std::string path;                   // as mapped, also if it is deleted; its last part is shown
  std::optional<RootDirectory> root;  // of the process; debug files are looked for there
};

// How much a name tells.
enum class NameSource {
  Symbol,  // "std::thread::join"
  Frame,   // "libc.so.6!fn_85e40": code without a symbol, by where its FDE starts
  Offset,  // "[libfoo.so+0x1234]": neither; ELF address, or offset in the file if that is not known
};

struct FrameName {
  std::string name;
  NameSource source = NameSource::Offset;
  bool operator==(const FrameName&) const = default;
};

// "[libfoo.so+0x1234]": a place in an object whose function nobody knows.
std::string place_name(const std::string& object, std::uint64_t place);

// Names of addresses in objects, resolvable when their processes have exited and their files are
// gone. Objects of one build-id with the same functions are kept once: a thousand containers
// have one libc. The build-id alone does not do, as whoever builds an object chooses it, and would
// choose the names of other containers' functions.
//
// Bounded: the functions least recently asked for are forgotten beyond Limits::bytes, and if they
// are asked for again, their objects are listed for the caller to hand over once more. Owned by one
// thread; load() takes long.
class SymbolCache {
 public:
  struct Limits {
    std::size_t bytes = 64 << 20;       // of functions and their names, and of what keeps them
    std::size_t objects = 65536;        // the oldest are forgotten altogether
    std::size_t shown_bytes = 4 << 20;  // of names as they are shown
  };

  explicit SymbolCache(const Limits& limits) : limits_(limits), demangled_(limits.shown_bytes) {}

  // Reads the object's functions. If that fails, the object has offsets only; what is in error is
  // counted in failures().
  void load(ObjectId id, const ObjectFile& file);

  // The function at an ELF virtual address, or at an offset in the file. For a frame that called,
  // ask for its return address less one: the call may be the last instruction. Nothing for an
  // object that was never loaded.
  [[nodiscard]] std::optional<FrameName> resolve_address(ObjectId id, std::uint64_t address);
  [[nodiscard]] std::optional<FrameName> resolve_offset(ObjectId id, std::uint64_t file_offset);

  // The ELF virtual address of an offset in the file; nothing for an object whose file was not
  // read, or is forgotten.
  [[nodiscard]] std::optional<std::uint64_t> address_of(ObjectId id,
                                                        std::uint64_t file_offset) const;

  // Objects whose functions were forgotten since the last call.
  [[nodiscard]] std::vector<ObjectId> take_forgotten() { return std::exchange(forgotten_, {}); }
  // Objects that were asked for since the last call and not there: forgotten, or never loaded. A
  // few hundred at most.
  [[nodiscard]] std::set<ObjectId> take_missed() { return std::exchange(missed_, {}); }

  // What load() left out of an object since the last call.
  [[nodiscard]] ObjectRefusals take_refused() { return std::exchange(refused_, {}); }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t symbol_sets() const { return sets_.size(); }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  // The functions that objects share.
  struct SymbolSet {
    ElfSymbols symbols;
    std::vector<ObjectId> users;
  };
  using Sets = std::list<SymbolSet>;  // most recently asked for first

  struct Object {
    std::string name;
    std::optional<Sets::iterator> symbols;
    bool forgotten = false;  // there were symbols
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
