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

// What is read of a process.
enum class ReadOf : std::uint8_t { Memory, Mappings, File, DebugFile, PerfMap };
inline constexpr std::array<const char*, 5> kReadOfNames = {"memory", "mappings", "file",
                                                            "debug_file", "perf_map"};

// Callbacks, run on the clients' threads.
struct ReaderReports {
  // A timeout. `path`: bytes, as the process has it; empty: none.
  std::function<void(ReadOf what, std::uint32_t tgid, std::string_view path)> hung;
  std::function<void(Refusal cause)> refused;
  // Readers that were given up and cannot be ended.
  std::function<void(unsigned readers)> stuck;
  std::function<void(std::chrono::nanoseconds cpu)> spent;  // by readers, since the last call
};

// What all clients of a daemon share. It lives as long as one of them does, and so as the naming
// thread, which may outlive all else; what the reports use must, too, or be behind a CallGate.
struct ReaderShare {
  ReaderShare(std::shared_ptr<ReaderSpawner> starts, ReaderReports told)
      : spawner(std::move(starts)), reports(std::move(told)) {}
  const std::shared_ptr<ReaderSpawner> spawner;
  const SystemClock clock{};
  const ReaderReports reports;
  WaitLedger ledger{clock};
  HungReaders hung;
  std::mutex looking;  // while one looks which readers hang: what another one adds comes after that
  CopyRoom copies;
  std::atomic<bool> stopping{false};  // no more waits, no more reports
};

// Asks its own reader, one request at a time. Gives up after kPatience without progress, or
// kLongest in all; time that the reader was runnable without a CPU does not count, up to
// kLongestRunnable. A reader that does not answer is killed, and whoever it waited for is not asked
// for a while (WaitLedger). Used by one thread.
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
    int fd = -1;                       // sent along
    const CopyPlace* place = nullptr;  // for a copy
  };
  struct Reply {
    enum class State : std::uint8_t { Answered, Hung, Refused };
    State state = State::Refused;
    std::string bytes;
    UniqueFd fd;
    [[nodiscard]] bool answered() const { return state == State::Answered; }
  };
  Reply ask(const Request& request);

  // Whether `tgid` may be asked about, for what asks about several at once; a refusal is counted.
  bool may_ask(std::uint32_t tgid, std::uint32_t parent_tgid = 0);
  // Its user may have changed by now.
  void forget_account(std::uint32_t tgid) { accounts_.erase(tgid); }
  // Whose share the kept result counts in; nothing: nobody knows now.
  ShareOwner owner_of(const Request& request);
  // A read was refused for this.
  void count_refusal(Refusal cause);
  // As ask(), for pieces that may_ask() admitted; blames the process whose piece hung or took
  // longest.
  Reply ask_pieces(ReaderTask task, ReadOf what, const std::string& bytes,
                   const std::function<std::uint32_t(std::size_t)>& tgid_of);

  // Forgets what readers know of mounts, and looks which hung readers have ended. Call it often.
  void refresh();

  // Null: there is no reader.
  [[nodiscard]] ReaderPage* page() { return reader_ ? &*reader_->page : nullptr; }
  // Starts one if need be. A failure counts as a refusal.
  bool has_reader();

  [[nodiscard]] CopyRoom& copies() { return share_->copies; }

 private:
  bool ensure_reader();
  Reply exchange(const Request& request, std::chrono::milliseconds patience);
  std::optional<Packet> wait_for_answer(std::chrono::milliseconds patience);
  // kUnknownAccount if the process and its parent are gone.
  Account account(std::uint32_t tgid, std::uint32_t parent_tgid);
  // As account(), when there is a bill: as it is now, or was before the process was gone.
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
  MonotonicTime looked_at_ = MonotonicTime::min();  // at hung readers
  std::map<std::uint32_t, KnownAccount> accounts_;
  std::uint64_t told_cpu_ns_ = 0;
  bool refresh_ = false;
};

}  // namespace offcpud
