// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_client.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "reader/own_time.h"
#include "reader/packet_socket.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using State = ReaderClient::Reply::State;

// What takes longer is charged to those it was for.
constexpr milliseconds kQuick{20};
constexpr milliseconds kAccountPatience{100};
constexpr milliseconds kLookAround{50};
// What a reader may take longer because it has no CPU.
constexpr milliseconds kLongestRunnable{2000};
constexpr std::chrono::seconds kAccountKept{10};
constexpr std::size_t kMostAccounts = 4096;
// Between attempts to start a reader, when there can be none.
constexpr std::chrono::seconds kBetweenSpawns{1};

std::pair<std::uint64_t, std::uint64_t> identity_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

}  // namespace

// Nobody says when a copy is closed, so what is open is looked at: once a second, when there is
// need.
std::uint64_t CopyRoom::left() {
  const std::lock_guard lock(mutex_);
  std::uint64_t held = 0;
  for (const auto& [inode, bytes] : copies_) held += bytes;
  const auto now = std::chrono::steady_clock::now();
  if (held > kMost / 2 &&
      (looked_at_ == MonotonicTime::min() || now - looked_at_ > std::chrono::seconds(1))) {
    looked_at_ = now;
    std::set<std::pair<std::uint64_t, std::uint64_t>> open;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
      const std::string name = entry.path().filename();
      int fd = -1;
      (void)std::from_chars(name.data(), name.data() + name.size(), fd);
      open.insert(identity_of(fd));
    }
    std::erase_if(copies_, [&](const auto& copy) { return !open.contains(copy.first); });
    held = 0;
    for (const auto& [inode, bytes] : copies_) held += bytes;
  }
  return kMost - std::min(kMost, held);
}

void CopyRoom::add(int fd, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  copies_[identity_of(fd)] += bytes;
}

// It ends with its socket, unless it hangs.
ReaderClient::~ReaderClient() {
  if (reader_) share_->spawner.abandon(reader_->pid);
}

bool ReaderClient::ensure_reader() {
  if (reader_) return true;
  const MonotonicTime now = share_->clock.now();
  const bool failed_lately =
      spawned_at_ != MonotonicTime::min() && now - spawned_at_ < kBetweenSpawns;
  if (failed_lately) return false;
  const unsigned stuck = share_->spawner.stuck();
  if (share_->reports.stuck) share_->reports.stuck(stuck);
  if (stuck < kMostStuck) {
    if (auto reader = share_->spawner.spawn()) reader_ = *std::move(reader);
  }
  told_cpu_ns_ = 0;
  spawned_at_ = reader_ ? MonotonicTime::min() : now;
  return reader_.has_value();
}

void ReaderClient::give_up() {
  if (!reader_) return;
  tell_spent();
  share_->spawner.abandon(reader_->pid);
  reader_.reset();
}

void ReaderClient::tell_spent() {
  if (!reader_ || !share_->reports.spent) return;
  const std::uint64_t cpu_ns = reader_->page->cpu_ns;
  if (cpu_ns - told_cpu_ns_ < 1'000'000) return;
  share_->reports.spent(std::chrono::nanoseconds(cpu_ns - std::exchange(told_cpu_ns_, cpu_ns)));
}

std::optional<Packet> ReaderClient::wait_for_answer(milliseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  auto until = begin + (patience == kPatience ? kLongest : patience);
  const auto latest = until + kLongestRunnable;
  std::uint32_t progress = reader_->page->progress;
  auto quiet_since = begin;
  for (auto now = begin; now < until; now = std::chrono::steady_clock::now()) {
    if (share_->stopping) return std::nullopt;
    const auto step = std::min(
        {until - now, quiet_since + patience - now, std::chrono::nanoseconds(kLookAround)});
    if (step <= std::chrono::nanoseconds(0)) break;
    auto packet = receive_packet(reader_->socket.get(), std::chrono::ceil<milliseconds>(step));
    if (!packet) return std::nullopt;  // it has ended
    if (*packet) return *std::move(packet);
    const std::uint32_t reached = reader_->page->progress;
    if (reached != std::exchange(progress, reached)) quiet_since = std::chrono::steady_clock::now();
    if (!is_runnable(reader_->pid)) continue;
    // It waits for a CPU, or works: nobody keeps it.
    quiet_since = std::chrono::steady_clock::now();
    until = std::min(until + (quiet_since - now), latest);
  }
  // It may have answered while this thread had no CPU.
  auto packet = receive_packet(reader_->socket.get(), milliseconds(0));
  if (!packet || !*packet) return std::nullopt;
  return **std::move(packet);
}

ReaderClient::Reply ReaderClient::exchange(ReaderTask task, const std::string& bytes, int fd,
                                           milliseconds patience) {
  Reply reply;
  reply.state = State::Hung;
  std::size_t i = 0;
  const auto shunned = share_->ledger.shunned();
  for (auto& place : reader_->page->shunned) place = i < shunned.size() ? shunned[i++] : 0;
  PacketWriter writer;
  writer.put(task);
  writer.put(std::exchange(refresh_, false));
  writer.put(share_->copies.left());
  const std::array fds{fd};
  if (!send_packet(reader_->socket.get(), writer.take() + bytes,
                   std::span(fds).first(fd >= 0 ? 1 : 0))) {
    return reply;
  }
  auto packet = wait_for_answer(patience);
  if (!packet) return reply;
  reply.state = State::Answered;
  reply.bytes = std::move(packet->bytes);
  reply.fd = std::move(packet->fds[0]);
  tell_spent();
  return reply;
}

// Without charging anybody: who is asked about cannot make this wait.
std::optional<Account> ReaderClient::account(std::uint32_t tgid) {
  const MonotonicTime now = share_->clock.now();
  const auto known = accounts_.find(tgid);
  if (known != accounts_.end() && now < known->second.until) return known->second.account;
  if (!ensure_reader()) return std::nullopt;
  PacketWriter writer;
  writer.put(tgid);
  const Reply reply = exchange(ReaderTask::AccountOf, writer.take(), -1, kAccountPatience);
  if (!reply.answered()) {
    give_up();
    return std::nullopt;
  }
  std::optional<Account> account;
  ByteReader reader(bytes_of(reply.bytes));
  if (!reply.bytes.empty()) account = reader.take<Account>();
  if (accounts_.size() >= kMostAccounts) accounts_.clear();
  accounts_[tgid] = {account, now + kAccountKept};
  return account;
}

bool ReaderClient::has_reader() {
  if (ensure_reader()) return true;
  if (share_->reports.refused) share_->reports.refused(Refusal::Readers);
  return false;
}

bool ReaderClient::may_ask(std::uint32_t tgid) {
  std::optional<Account> whose;
  if (tgid != 0 && share_->ledger.needs_account()) whose = account(tgid);
  const auto refusal = share_->ledger.may_ask(tgid, whose);
  if (refusal && share_->reports.refused) share_->reports.refused(*refusal);
  return !refusal;
}

ReaderClient::Reply ReaderClient::ask(const Request& request) {
  if (share_->stopping || !may_ask(request.tgid)) return {};
  if (!has_reader()) return {};
  const MonotonicTime begin = share_->clock.now();
  Reply reply = exchange(request.task, request.bytes, request.fd, kPatience);
  settle(request, begin, !reply.answered());
  return reply;
}

ReaderClient::Reply ReaderClient::ask_pieces(
    ReaderTask task, ReadOf what, const std::string& bytes,
    const std::function<std::uint32_t(std::size_t)>& tgid_of) {
  const MonotonicTime begin = share_->clock.now();
  reader_->page->piece = reader_->page->slowest = 0;
  Reply reply = exchange(task, bytes, -1, kPatience);
  const bool hung = !reply.answered();
  const std::uint32_t tgid = tgid_of(hung ? reader_->page->piece : reader_->page->slowest);
  settle({.what = what, .tgid = tgid, .path = {}, .bytes = {}}, begin, hung);
  return reply;
}

// Of readers that could not even be asked as of those that did not answer.
void ReaderClient::settle(const Request& request, MonotonicTime begin, bool hung) {
  std::chrono::nanoseconds waited = share_->clock.now() - begin;
  if (!hung) waited = std::chrono::nanoseconds(reader_->page->blocked_ns);
  if (!hung && waited < kQuick) return;
  if (share_->stopping) return;
  if (hung) {
    if (const std::uint64_t mount = reader_->page->mount; mount != 0) share_->ledger.shun(mount);
    give_up();
  }
  std::optional<Account> whose;
  if (request.tgid != 0) whose = account(request.tgid);
  share_->ledger.charge(request.tgid, whose, waited, hung);
  if (!hung) return;
  if (share_->reports.hung) share_->reports.hung(request.what, request.tgid, request.path);
  if (share_->reports.stuck) share_->reports.stuck(share_->spawner.stuck());
}

}  // namespace offcpud
