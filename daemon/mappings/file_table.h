// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_handle.h"
#include "mappings/file_opener.h"
#include "mappings/mapped_file.h"

namespace offcpud {

// A mapping as an event or a line of /proc/PID/maps tells of it.
struct SeenMapping {
  std::uint32_t tgid = 0;
  std::uint32_t parent_tgid = 0;  // 0: not known
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  BuildId build_id;
  InodeId inode;
  RootId root;            // of the process, and its user; not known: copies are not looked for
  bool copies = true;     // are looked for; not where every mapping of the process is told
  std::string_view path;  // with the kernel's " (deleted)"
};

// Every file and object that is mapped, once. An object is opened when it is seen for the first
// time, while the process that maps it still exists; where that fails, again when another mapping
// of it is seen, a few times at each place. So is each copy of it, in the root of another process
// or by another name: the kernel tells files apart, not contents. Used by one thread.
//
// A build-id is only what a file says about itself, and a place may be a file system of the user's
// own. So objects belong to users, and what one user maps decides nothing for another. A process
// that was gone before it could be asked whose it is (RootId::UserIs::OfParent) borrows the object
// of its parent's user, where one was opened, and decides nothing either. A file is a user's if a
// process of his maps it: it was asked before and after that was seen.
class FileTable {
 public:
  struct Counts {
    std::uint64_t objects_opened = 0;
    std::uint64_t unnamed = 0;  // mappings of a file without build-id and inode
    std::array<std::uint64_t, OpenedFile::kOutcomes>
        attempts{};  // to open one or a copy, by OpenedFile::Outcome
  };

  // Called with the open file of an object, once for each, and with no file where it could not be
  // opened at the first attempt.
  using Found = std::function<void(const std::shared_ptr<const MappedObject>&, const MappedFile&,
                                   UniqueFd file)>;
  // Called with each copy of an object that was opened before.
  using Copied = std::function<void(const MappedObject&, UniqueFd file)>;
  using Forgotten = std::function<void(const MappedObject&)>;
  // Called when a process is seen to run for another user than `seen` said.
  using Changed = std::function<void(std::uint32_t tgid, const RootId& root)>;

  // `max_unused` limits those that are kept although nothing maps them any more.
  FileTable(FileOpener& opener, std::size_t max_unused, Found found, Copied copied,
            Forgotten forgotten, Changed changed = {});

  std::shared_ptr<const MappedFile> file_of(const SeenMapping& seen);

  // Whether the object of a file could not be opened because opening was refused, which may change.
  [[nodiscard]] bool is_refused(const MappedFile& file) const;
  // Whether it is open now; found() was called then.
  bool try_again(const SeenMapping& seen, const MappedFile& file);

  // Copies are looked for anew from here on, since another file may have taken the place of one.
  // Drops what no mapping refers to: objects known by inode at once, because their numbers are
  // used again, those known by build-id from `max_unused` on, oldest first.
  void prune();

  // What could not be opened may be tried again, where it is mapped anew.
  void forgive();

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t objects() const { return objects_.size(); }

 private:
  // Where an object, or a copy of it, was looked for: the root of a process, and the path there.
  struct Place {
    std::size_t hash = 0;
    RootId root;
    unsigned attempts_left = 0;
  };
  struct Object {
    std::shared_ptr<const MappedObject> object;
    bool told = false;    // found() was called, if without a file
    bool opened = false;  // then `places` are of copies, since the last prune()
    std::vector<Place> places;
  };

  void find_object(const SeenMapping& seen, MappedFile& file);
  std::shared_ptr<const MappedFile> interned(MappedFile file);
  // The object that a process of its user opened. Null: none did yet.
  Object* opened_by_user(const SeenMapping& seen, const BuildId& build_id);
  Object& object_of(const BuildId& build_id, const RootId& root);
  Object& object_for(const std::string& key, MappedObject object);
  OpenedFile open(const SeenMapping& seen, const MappedFile& file, RootId root = {});
  void find_copy(Object& entry, const SeenMapping& seen, const MappedFile& file);
  // Null: enough were looked at for now.
  static Place* place_of(Object& entry, const SeenMapping& seen, const MappedFile& file);
  static bool take_place(std::vector<Place>& places, const RootId& wants);
  // Of a process that was asked whose it is, before.
  void settle_own(Object& entry, Place* place, std::optional<OpenedFile>& opened,
                  const SeenMapping& seen, MappedFile& file);
  void settle(Object& entry, Place* place, OpenedFile opened, const MappedFile& file);

  FileOpener& opener_;
  std::size_t max_unused_;
  Found found_;
  Copied copied_;
  Forgotten forgotten_;
  Changed changed_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::string, Object> objects_;     // by key
  std::unordered_map<std::uint64_t, Object*> refused_;  // at the last attempt, by MappedObject::id
  std::unordered_map<std::string, std::weak_ptr<const MappedFile>> files_;  // by object and path
  // Files that are mapped now, so that their inode numbers cannot mean another one; see key_of().
  std::unordered_map<std::string, std::weak_ptr<const MappedFile>> by_inode_;
  std::size_t prune_files_at_ = 1024;
  Counts counts_;
};

}  // namespace offcpud
