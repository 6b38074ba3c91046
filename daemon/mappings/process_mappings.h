// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "mappings/fair_share.h"
#include "mappings/file_table.h"
#include "mappings/mapping_event.h"
#include "mappings/mapping_observer.h"
#include "mappings/mapping_set.h"
#include "mappings/proc_maps.h"
#include "mappings/turn_queue.h"

namespace offcpud {

// The executable mappings of all processes, kept up by events. Used by one thread; the observer is
// called from within apply(), scan(), try_again() and forget_ended().
//
// An image is what a process executes between fork or exec and the next exec or its end. Images
// that have ended are kept until forget_ended(), so that addresses that were sampled before can
// still be looked up. A child shares the mappings of its parent in memory until one of them
// changes. Processes that share an address space without being threads of one another (vfork, clone
// with CLONE_VM) are followed as if each had its own.
class ProcessMappings {
 public:
  struct Limits {
    std::size_t images = 65536;          // of live and of ended processes
    std::size_t mappings = 1U << 20;     // of all of them, shared ones once
    std::size_t of_image = 8192;         // of one; JVMs and browsers have 2,000
    std::size_t unused_objects = 16384;  // kept although nothing maps them
  };

  struct Counts {
    std::size_t live = 0;                    // images, now
    std::size_t ended = 0;                   // images that wait for forget_ended(), now
    std::size_t mappings = 0;                // now
    std::size_t objects = 0;                 // now
    std::uint64_t images_refused = 0;        // processes without mappings: limit of images
    std::uint64_t mappings_refused = 0;      // limits of mappings
    std::uint64_t events_left_out = 0;       // of processes with too many of them
    std::uint64_t ended_too_early = 0;       // images forgotten early to make room for live ones
    std::uint64_t processes_unreadable = 0;  // in scans, by lack of permission
    std::uint64_t scans = 0;
    FileTable::Counts files;
  };

  ProcessMappings(MappingObserver& observer, FileOpener& opener, ProcessReader& reader,
                  const Clock& clock, const Limits& limits);
  ProcessMappings(const ProcessMappings&) = delete;
  ProcessMappings& operator=(const ProcessMappings&) = delete;

  // Events in the order in which they happened.
  void apply(const MappingEvent& event);

  // Reads all processes that exist: at first, after the events were opened and before the first one
  // is applied, so that nothing is missed in between; and again when needs_scan(). Costs some
  // 50 us per process; calls `between`, unless it is empty, after each.
  Status scan(const std::function<void()>& between = {});

  // Reads again the processes of which something was left out, in a tenth of the time at most:
  // those for which there was no room once they would get it. To be called often.
  void catch_up();

  // The processes of which not everything is known.
  [[nodiscard]] std::vector<OverShare> over_share();

  // Reads what was refused or came too late, of some processes, those first whose last attempt is
  // longest ago. To be called often, as refusals do not last. The observer is told of what opened
  // at once or a second after it was told the last time: that looks at all mappings of all
  // processes, and calls `between`, unless it is empty, after each of these.
  void try_again(const std::function<void()>& between = {});

  // Events were lost since the last scan.
  [[nodiscard]] bool needs_scan() const { return needs_scan_; }

  struct Location {
    const Mapping* mapping;     // valid until the next change
    std::uint64_t file_offset;  // of the address; means nothing unless the kind is File
  };

  // What `address` belonged to in process `tgid` at that time. The program headers of the file turn
  // the offset into an address as the ELF file has them.
  [[nodiscard]] std::optional<Location> find(std::uint32_t tgid, MonotonicTime when,
                                             std::uint64_t address) const;

  // Of the live image; empty if there is none. Valid until the next change.
  [[nodiscard]] std::span<const Mapping> mappings_of(std::uint32_t tgid) const;

  // Images that end from now on carry the number that is returned.
  std::uint64_t begin_generation() { return ++generation_; }

  // Forgets the images that ended in `generation` or before.
  void forget_ended(std::uint64_t generation);

  [[nodiscard]] Counts counts() const;

 private:
  struct Image {
    ImageId id;
    std::uint32_t parent_tgid = 0;
    RootId root;  // when it began, and its user: what it changes later is not seen
    MonotonicTime began{};
    std::optional<MonotonicTime> ended;
    MonotonicTime read_at = MonotonicTime::min();  // older events are contained already
    std::shared_ptr<MappingSet> mappings;          // never null
    // Null as long as the only thread is the one that has the number of the process.
    std::unique_ptr<std::unordered_set<std::uint32_t>> threads;
    std::size_t read_again_at = 0;         // mappings
    std::optional<std::uint32_t> uid;      // once it was asked for
    std::chrono::seconds second{};         // of the last event, and ...
    unsigned events = 0;                   // ... how many came in that second
    std::chrono::nanoseconds read_cost{};  // what it took the last time
    MonotonicTime read_next = MonotonicTime::min();
    bool over_share = false;         // not everything is known of it
    std::size_t wants = 0;           // mappings; more than it has where there was no room for them
    std::uint64_t refused_from = 0;  // the address from where on files are the next to be tried
  };
  // From here on a read counts as costly: 3,000 lines of /proc/PID/maps.
  static constexpr std::chrono::milliseconds kCostlyRead{2};
  using History = std::vector<Image>;  // oldest first; only the last one can be alive
  struct Ended {
    ImageId id;
    std::uint64_t generation;
  };

  void on_mapped(const MappingEvent& event);
  void on_forked(const MappingEvent& event);
  void on_exited(const MappingEvent& event);
  void on_executed(const MappingEvent& event);

  Image* live(std::uint32_t tgid);
  [[nodiscard]] const Image* live(std::uint32_t tgid) const;
  // Null when there is no room. Ends the image that the process has.
  Image* begin(std::uint32_t tgid, std::uint32_t parent_tgid, RootId root, MonotonicTime when,
               std::shared_ptr<MappingSet> mappings);
  void end(Image& image, MonotonicTime when);
  void forget(const ImageId& id);
  bool make_room();

  void put(Image& image, const SeenMapping& seen);
  // What bounds the share of one process: process_shares.cpp.
  bool is_one_too_many(Image& image, MonotonicTime when);
  bool has_room(Image& image, std::size_t needed);
  std::vector<ShareHolder> share_holders();
  // Whether no more than `most` mappings are held, after others gave theirs up for `wants`.
  bool others_give_way(const ShareHolder& wants, std::size_t most);
  void give_up(Image& image);
  void wait_for_room(Image& image, std::size_t wants);
  // Those that wait for room and would get it are to be read.
  void come_back();
  void read_later(const Image& image, bool execs_missed);
  std::optional<std::uint32_t> uid_of(Image& image);
  // `execs_missed`: events were lost, so the process may execute something else than is known.
  void read_process(std::uint32_t tgid, bool execs_missed);
  void replace(Image& image, std::shared_ptr<MappingSet> mappings);
  void note_refused(std::uint32_t tgid, const MappedFile& file);
  void try_refused_in_turn();
  // Tries some of the files that were refused, each object once. False: there was none.
  bool open_refused(Image& image);
  bool try_refused(const Image& image, const Mapping& mapping);
  // Tells the observer of the mappings of what opened as if they were new.
  void tell_again(const std::function<void()>& between);
  struct ReadSet {
    std::shared_ptr<MappingSet> mappings;
    bool had_room = true;
    bool refused = false;  // a file of it
  };
  // `image` is what is known of the process so far, or null.
  ReadSet read_set(std::uint32_t tgid, const std::vector<MapsLine>& maps, Image* image);

  MappingObserver& observer_;
  ProcessReader& reader_;
  FileOpener& opener_;
  const Clock& clock_;
  Limits limits_;
  FileTable files_;
  std::size_t mappings_held_ = 0;  // outlives the sets that count into it
  std::unordered_map<std::uint32_t, History> processes_;
  std::deque<Ended> ended_;  // in the order of their ends
  std::size_t images_ = 0;
  std::uint64_t last_serial_ = 0;
  std::uint64_t generation_ = 1;
  bool needs_scan_ = true;
  std::chrono::seconds second_{};            // of the last event, and ...
  unsigned events_ = 0;                      // ... how many came in that second
  std::chrono::duration<double> reading_{};  // that catch_up() may spend; below 0 it was overdrawn
  MonotonicTime reading_at_ = MonotonicTime::min();
  std::deque<std::uint32_t> to_read_;                   // processes, each once
  std::unordered_map<std::uint32_t, bool> is_to_read_;  // of them: `execs_missed`
  TurnQueue without_room_;  // live processes that gave way, or for which there was none
  MonotonicTime next_back_ = MonotonicTime::min();
  MonotonicTime forgives_at_ = MonotonicTime::min();
  TurnQueue unread_;                          // processes whose mappings could not be read in time
  TurnQueue refused_;                         // live processes with a file that was not opened
  std::unordered_set<std::uint64_t> opened_;  // objects that were refused, and not told of since
  MonotonicTime tells_at_ = MonotonicTime::min();
  Counts counts_;
};

}  // namespace offcpud
