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

// The executable mappings of all processes, kept up to date by events. Used by one thread; the
// observer is called within apply(), scan(), try_again() and forget_ended().
//
// An image is what a process executes from fork or exec until the next exec or its end. Ended
// images are kept until forget_ended(), so that addresses sampled earlier can still be looked up. A
// child shares its parent's mappings in memory until one of them changes. Processes that share an
// address space without being threads of one process (vfork, clone with CLONE_VM) are followed as
// if each had its own.
class ProcessMappings {
 public:
  struct Limits {
    std::size_t images = 65536;          // live and ended ones
    std::size_t mappings = 1U << 20;     // of all images; shared ones count once
    std::size_t of_image = 8192;         // of one image; JVMs and browsers have 2,000
    std::size_t unused_objects = 16384;  // kept although nothing maps them
  };

  struct Counts {
    std::size_t live = 0;                // images, now
    std::size_t ended = 0;               // images that wait for forget_ended(), now
    std::size_t mappings = 0;            // now
    std::size_t objects = 0;             // now
    std::uint64_t images_refused = 0;    // processes left without mappings by the limit of images
    std::uint64_t mappings_refused = 0;  // by the limits of mappings
    std::uint64_t events_left_out = 0;   // of processes with too many events
    std::uint64_t ended_too_early = 0;   // ended images forgotten early to make room for live ones
    std::uint64_t processes_unreadable = 0;  // in scans, for lack of permission
    std::uint64_t scans = 0;
    FileTable::Counts files;
  };

  ProcessMappings(MappingObserver& observer, FileOpener& opener, ProcessReader& reader,
                  const Clock& clock, const Limits& limits);
  ProcessMappings(const ProcessMappings&) = delete;
  ProcessMappings& operator=(const ProcessMappings&) = delete;

  // Call it with the events in the order in which they happened.
  void apply(const MappingEvent& event);

  // Reads all existing processes. Call it first after the events were opened and before any is
  // applied, so that nothing is missed in between; and again when needs_scan(). Costs about 50 us
  // per process; calls `between`, if set, after each.
  Status scan(const std::function<void()>& between = {});

  // Reads again the processes whose mappings are incomplete, for at most a tenth of the time. A
  // process that found no room is read once there is room for it. Call it often.
  void catch_up();

  // The processes whose mappings are incomplete.
  [[nodiscard]] std::vector<OverShare> over_share();

  // Tries again what was refused or came too late, for a few processes per call, those with the
  // oldest attempt first. Call it often, because refusals are temporary. Tells the observer of
  // newly opened objects at most once a second, because that walks all mappings of all processes;
  // calls `between`, if set, after each process.
  void try_again(const std::function<void()>& between = {});

  // Whether events were lost since the last scan.
  [[nodiscard]] bool needs_scan() const { return needs_scan_; }

  struct Location {
    const Mapping* mapping;     // valid until the next change
    std::uint64_t file_offset;  // of the address; meaningless unless the kind is File
  };

  // The mapping of process `tgid` that had `address` at that time. With the file's program headers,
  // the offset gives the address in the ELF file.
  [[nodiscard]] std::optional<Location> find(std::uint32_t tgid, MonotonicTime when,
                                             std::uint64_t address) const;

  // The mappings of the live image; empty if there is none. Valid until the next change.
  [[nodiscard]] std::span<const Mapping> mappings_of(std::uint32_t tgid) const;

  // Starts a new generation and returns its number; images that end from now on belong to it.
  std::uint64_t begin_generation() { return ++generation_; }

  // Forgets the images that ended in `generation` or earlier.
  void forget_ended(std::uint64_t generation);

  [[nodiscard]] Counts counts() const;

 private:
  struct Image {
    ImageId id;
    std::uint32_t parent_tgid = 0;
    RootId root;  // root and user when it began; later changes are not seen
    MonotonicTime began{};
    std::optional<MonotonicTime> ended;
    MonotonicTime read_at = MonotonicTime::min();  // older events are already contained
    std::shared_ptr<MappingSet> mappings;          // never null
    // Null while its only thread has the number of the process.
    std::unique_ptr<std::unordered_set<std::uint32_t>> threads;
    std::size_t read_again_at = 0;         // when it has this many mappings
    std::optional<std::uint32_t> uid;      // set when it was first asked for
    std::chrono::seconds second{};         // of the last event
    unsigned events = 0;                   // number of events in that second
    std::chrono::nanoseconds read_cost{};  // duration of the last read
    MonotonicTime read_next = MonotonicTime::min();
    bool over_share = false;  // its mappings are incomplete
    std::size_t wants = 0;    // number of mappings; more than it has if there was no room
    // The address from which the next attempts to open refused files start.
    std::uint64_t refused_from = 0;
  };
  // A read that takes this long counts as costly: it equals 3,000 lines of /proc/PID/maps.
  static constexpr std::chrono::milliseconds kCostlyRead{2};
  using History = std::vector<Image>;  // oldest first; only the last one may be alive
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
  // Ends the image that the process has. Null: there is no room for a new one.
  Image* begin(std::uint32_t tgid, std::uint32_t parent_tgid, RootId root, MonotonicTime when,
               std::shared_ptr<MappingSet> mappings);
  void end(Image& image, MonotonicTime when);
  void forget(const ImageId& id);
  bool make_room();

  void put(Image& image, const SeenMapping& seen);
  // These limit the share of one process: process_shares.cpp.
  bool is_one_too_many(Image& image, MonotonicTime when);
  bool has_room(Image& image, std::size_t needed);
  std::vector<ShareHolder> share_holders();
  // Makes others give up their mappings for `wants`. True: no more than `most` are held now.
  bool others_give_way(const ShareHolder& wants, std::size_t most);
  void give_up(Image& image);
  void wait_for_room(Image& image, std::size_t wants);
  // Schedules a read of processes that wait for room and would now get it.
  void come_back();
  void read_later(const Image& image, bool execs_missed);
  std::optional<std::uint32_t> uid_of(Image& image);
  // `execs_missed`: events were lost, so the process may execute something else than known.
  void read_process(std::uint32_t tgid, bool execs_missed);
  void replace(Image& image, std::shared_ptr<MappingSet> mappings);
  void note_refused(std::uint32_t tgid, const MappedFile& file);
  void try_refused_in_turn();
  // Tries to open some of the refused files, each object once. False: there was none.
  bool open_refused(Image& image);
  bool try_refused(const Image& image, const Mapping& mapping);
  // Reports the mappings of what opened to the observer as if they were new.
  void tell_again(const std::function<void()>& between);
  struct ReadSet {
    std::shared_ptr<MappingSet> mappings;
    bool had_room = true;
    bool refused = false;  // one of its files was refused
  };
  // `image`: what is known of the process so far, or null.
  ReadSet read_set(std::uint32_t tgid, const std::vector<MapsLine>& maps, Image* image);

  MappingObserver& observer_;
  ProcessReader& reader_;
  FileOpener& opener_;
  const Clock& clock_;
  Limits limits_;
  FileTable files_;
  std::size_t mappings_held_ = 0;  // outlives the sets that add to it
  std::unordered_map<std::uint32_t, History> processes_;
  std::deque<Ended> ended_;  // by time of their end
  std::size_t images_ = 0;
  std::uint64_t last_serial_ = 0;
  std::uint64_t generation_ = 1;
  bool needs_scan_ = true;
  std::chrono::seconds second_{};            // of the last event
  unsigned events_ = 0;                      // number of events in that second
  std::chrono::duration<double> reading_{};  // time that catch_up() may spend; below 0: overdrawn
  MonotonicTime reading_at_ = MonotonicTime::min();
  std::deque<std::uint32_t> to_read_;                   // processes, each once
  std::unordered_map<std::uint32_t, bool> is_to_read_;  // the same processes: `execs_missed`
  TurnQueue without_room_;  // live processes that gave up their mappings or found no room
  MonotonicTime next_back_ = MonotonicTime::min();
  MonotonicTime forgives_at_ = MonotonicTime::min();
  TurnQueue unread_;                          // processes whose mappings could not be read in time
  TurnQueue refused_;                         // live processes with a refused file
  std::unordered_set<std::uint64_t> opened_;  // refused objects that opened, not yet reported
  MonotonicTime tells_at_ = MonotonicTime::min();
  Counts counts_;
};

}  // namespace offcpud
