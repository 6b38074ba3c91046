// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/share_owner.h"
#include "base/unique_handle.h"
#include "reader/copy_room.h"
#include "reader/hung_readers.h"
#include "reader/packet_socket.h"
#include "reader/reader_process.h"
#include "reader/reader_spawner.h"
#include "reader/wait_ledger.h"

namespace offcpud {

// The kinds of data read from a process.
enum class ReadOf : std::uint8_t { Memory, Mappings, File, DebugFile, PerfMap };
inline constexpr std::array<const char*, 5> kReadOfNames = {"memory", "mappings", "file",
                                                            "debug_file", "perf_map"};

// Callbacks, called on the clients' threads.
struct ReaderReports {
  // A request was not answered in time. `path`: bytes, as the process has it; empty: none.
  std::function<void(ReadOf what, std::uint32_t tgid, std::string_view path)> hung;
  std::function<void(Refusal cause)> refused;
  // The number of readers that were given up but have not ended.
  std::function<void(unsigned readers)> stuck;
  std::function<void(std::chrono::nanoseconds cpu)> spent;  // by readers, since the last call
};

// State shared by all clients of a daemon. It lives as long as the last client, which may be the
// symbols thread's, and that thread may outlive everything else. So whatever the reports use must
// live as long, or be behind a CallGate.
struct ReaderShare {
  ReaderShare(std::shared_ptr<ReaderSpawner> starts, ReaderReports told)
      : spawner(std::move(starts)), reports(std::move(told)) {}
  const std::shared_ptr<ReaderSpawner> spawner;
  const SystemClock clock{};
  const ReaderReports reports;
  WaitLedger ledger{clock};
  HungReaders hung;
  std::mutex looking;  // held while a client finds out which readers hang, or adds one that does
  CopyRoom copies;
  std::atomic<bool> stopping{false};  // no more waits, no more reports
};

// Sends requests to its own reader, one at a time. Gives up after kPatience without progress, or
// kLongest in all. Time in which the reader runs or lacks a CPU does not count, up to
// kLongestRunnable. A reader that does not answer is killed, and further requests like it are
// refused for a while (WaitLedger). Used by one thread.
class ReaderClient {
 public:
  static constexpr std::chrono::milliseconds kPatience{200};
  static constexpr std::chrono::milliseconds kLongest{600};
  static constexpr std::chrono::milliseconds kLongestRunnable{2000};

  explicit ReaderClient(std::shared_ptr<ReaderShare> share) : share_(std::move(share)) {}
  ~ReaderClient();
  ReaderClient(const ReaderClient&) = delete;
  ReaderClient& operator=(const ReaderClient&) = delete;

  struct Request {
    ReaderTask task = ReaderTask::OpenMapped;
    ReadOf what = ReadOf::File;
    std::uint32_t tgid = 0;         // the process; 0: none
    std::uint32_t parent_tgid = 0;  // used once `tgid` is gone; 0: none
    std::string_view path;          // for the log
    std::string bytes;
    int fd = -1;                       // sent with the request
    const CopyPlace* place = nullptr;  // memory for a copy; null: none
  };
  struct Reply {
    enum class State : std::uint8_t { Answered, Hung, Refused };
    State state = State::Refused;
    std::string bytes;
    UniqueFd fd;
    [[nodiscard]] bool answered() const { return state == State::Answered; }
  };
  Reply ask(const Request& request);

  // Whether `tgid` may be asked about; for requests about several processes. Counts a refusal.
  bool may_ask(std::uint32_t tgid, std::uint32_t parent_tgid = 0);
  // Call it when the user of the process may have changed.
  void forget_account(std::uint32_t tgid) { accounts_.erase(tgid); }
  // The user whose share of copies this counts against; nothing: unknown now.
  ShareOwner owner_of(const Request& request);
  // Counts a request refused for this cause.
  void count_refusal(Refusal cause);
  // Like ask(), for pieces that may_ask() admitted. The wait counts against the process whose piece
  // hung or took longest.
  Reply ask_pieces(ReaderTask task, ReadOf what, const std::string& bytes,
                   const std::function<std::uint32_t(std::size_t)>& tgid_of);

  // Makes readers forget the mounts they know, and checks which hung readers have ended. Call it
  // often.
  void refresh();

  // Null: there is no reader now.
  [[nodiscard]] ReaderPage* page() { return reader_ ? &*reader_->page : nullptr; }
  // Starts a reader if there is none. A failure counts as a refusal.
  bool has_reader();

  [[nodiscard]] CopyRoom& copies() { return share_->copies; }

 private:
  bool ensure_reader();
  Reply exchange(const Request& request, std::chrono::milliseconds patience);
  std::optional<Packet> wait_for_answer(std::chrono::milliseconds patience);
  // kUnknownAccount: the process and its parent are gone.
  Account account(std::uint32_t tgid, std::uint32_t parent_tgid);
  // Like account(), when a wait is to be counted: the present account, or the last one known before
  // the process was gone.
  Account account_now(const Request& request);
  std::optional<Account> known_or_asked(std::uint32_t tgid);
  std::optional<Account> ask_account(std::uint32_t tgid);
  pid_t give_up();
  void look_at_hung();
  void tell_spent();
  void settle(const Request& request, MonotonicTime begin, bool hung);

  struct KnownAccount {
    std::optional<Account> account;
    MonotonicTime until{};
  };
  std::shared_ptr<ReaderShare> share_;
  std::optional<ReaderSpawner::Reader> reader_;
  MonotonicTime spawned_at_ = MonotonicTime::min();
  MonotonicTime looked_at_ = MonotonicTime::min();  // when it last checked for hung readers
  std::map<std::uint32_t, KnownAccount> accounts_;
  std::uint64_t told_cpu_ns_ = 0;
  bool refresh_ = false;
};

}  // namespace offcpud
