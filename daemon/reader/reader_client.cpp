// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_client.h"

#include <algorithm>
#include <array>

#include "reader/own_time.h"
#include "reader/packet_socket.h"

namespace offcpud {
namespace {

using std::chrono::milliseconds;
using State = ReaderClient::Reply::State;

// Longer waits count against the process and user that they were for.
constexpr milliseconds kQuick{20};
constexpr milliseconds kAccountPatience{100};
constexpr milliseconds kLookAround{50};
constexpr std::chrono::seconds kAccountKept{2};
constexpr std::size_t kMostAccounts = 4096;
// Between attempts to start a reader, after one failed.
constexpr std::chrono::seconds kBetweenSpawns{1};
// Between checks for hung readers, while there are any.
constexpr std::chrono::seconds kBetweenLooks{2};

}  // namespace

// The reader ends with its socket, unless it hangs.
ReaderClient::~ReaderClient() {
  if (reader_) share_->spawner->abandon(reader_->pid);
}

bool ReaderClient::ensure_reader() {
  if (reader_) return true;
  if (share_->stopping) return false;
  const MonotonicTime now = share_->clock.now();
  const bool failed_lately =
      spawned_at_ != MonotonicTime::min() && now - spawned_at_ < kBetweenSpawns;
  if (failed_lately) return false;
  look_at_hung();
  if (share_->hung.count() < HungReaders::kMost) {
    if (auto reader = share_->spawner->spawn()) reader_ = *std::move(reader);
  }
  told_cpu_ns_ = 0;
  spawned_at_ = reader_ ? MonotonicTime::min() : now;
  return reader_.has_value();
}

pid_t ReaderClient::give_up() {
  if (!reader_) return 0;
  tell_spent();
  const pid_t pid = reader_->pid;
  share_->spawner->abandon(pid);
  reader_.reset();
  return pid;
}

void ReaderClient::look_at_hung() {
  {
    const std::lock_guard lock(share_->looking);
    if (const auto hung = share_->spawner->hung()) share_->hung.update(*hung);
  }
  looked_at_ = share_->clock.now();
  if (share_->reports.stuck) share_->reports.stuck(share_->hung.count());
}

void ReaderClient::refresh() {
  refresh_ = true;
  if (share_->stopping || share_->hung.count() == 0) return;
  if (share_->clock.now() - looked_at_ > kBetweenLooks) look_at_hung();
}

void ReaderClient::tell_spent() {
  if (!reader_ || !share_->reports.spent) return;
  const std::uint64_t cpu_ns = reader_->page->cpu_ns;
  if (cpu_ns < told_cpu_ns_ + 1'000'000) return;
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
    if (!packet) return std::nullopt;  // the reader has ended
    if (*packet) return *std::move(packet);
    const std::uint32_t reached = reader_->page->progress;
    if (reached != std::exchange(progress, reached)) quiet_since = std::chrono::steady_clock::now();
    if (!is_runnable(reader_->pid)) continue;
    // It works or lacks a CPU, so no process is keeping it.
    quiet_since = std::chrono::steady_clock::now();
    until = std::min(until + (quiet_since - now), latest);
  }
  // The answer may have come while this thread had no CPU.
  auto packet = receive_packet(reader_->socket.get(), milliseconds(0));
  if (!packet || !*packet) return std::nullopt;
  return **std::move(packet);
}

ReaderClient::Reply ReaderClient::exchange(const Request& request, milliseconds patience) {
  Reply reply;
  reply.state = State::Hung;
  std::size_t i = 0;
  const auto shunned = share_->ledger.shunned();
  for (auto& place : reader_->page->shunned) place = i < shunned.size() ? shunned[i++] : 0;
  PacketWriter writer;
  writer.put(request.task);
  writer.put(std::exchange(refresh_, false));
  writer.put(request.place == nullptr ? std::uint64_t{0} : request.place->bytes());
  std::array<int, 2> fds{};
  std::size_t count = 0;
  if (request.fd >= 0) fds.at(count++) = request.fd;
  if (request.place != nullptr) fds.at(count++) = request.place->fd();
  if (!send_packet(reader_->socket.get(), writer.take() + request.bytes,
                   std::span(fds).first(count))) {
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

Account ReaderClient::account(std::uint32_t tgid, std::uint32_t parent_tgid) {
  auto whose = known_or_asked(tgid);
  if (!whose && parent_tgid != 0) whose = known_or_asked(parent_tgid);
  return whose.value_or(kUnknownAccount);
}

ShareOwner ReaderClient::owner_of(const Request& request) {
  if (request.tgid == 0) return std::nullopt;
  const Account whose = account(request.tgid, request.parent_tgid);
  if (whose == kUnknownAccount) return std::nullopt;
  return whose;
}

Account ReaderClient::account_now(const Request& request) {
  const auto known = accounts_.find(request.tgid);
  const auto before = known == accounts_.end() ? std::nullopt : known->second.account;
  forget_account(request.tgid);
  const Account now = account(request.tgid, before ? 0 : request.parent_tgid);
  return now == kUnknownAccount ? before.value_or(now) : now;
}

std::optional<Account> ReaderClient::known_or_asked(std::uint32_t tgid) {
  const MonotonicTime now = share_->clock.now();
  const auto known = accounts_.find(tgid);
  if (known != accounts_.end() && now < known->second.until) return known->second.account;
  const auto account = ask_account(tgid);
  if (accounts_.size() >= kMostAccounts) accounts_.clear();
  accounts_[tgid] = {account, now + kAccountKept};
  return account;
}

// Counts against nobody, because the process in question cannot delay the answer.
std::optional<Account> ReaderClient::ask_account(std::uint32_t tgid) {
  if (!ensure_reader()) return std::nullopt;
  PacketWriter writer;
  writer.put(tgid);
  const Reply reply = exchange({.task = ReaderTask::AccountOf, .path = {}, .bytes = writer.take()},
                               kAccountPatience);
  if (!reply.answered()) {
    (void)give_up();
    return std::nullopt;
  }
  std::optional<Account> account;
  ByteReader reader(bytes_of(reply.bytes));
  if (const auto answer = reader.take<Account>(); reader.ok()) account = answer;
  return account;
}

bool ReaderClient::has_reader() {
  if (ensure_reader()) return true;
  count_refusal(Refusal::Readers);
  return false;
}

void ReaderClient::count_refusal(Refusal cause) {
  if (share_->reports.refused && !share_->stopping) share_->reports.refused(cause);
}

bool ReaderClient::may_ask(std::uint32_t tgid, std::uint32_t parent_tgid) {
  std::optional<Account> whose;
  const bool matters = share_->ledger.needs_account() || share_->hung.count() > 0;
  if (tgid != 0 && matters) whose = account(tgid, parent_tgid);
  auto refusal = share_->ledger.may_ask(tgid, whose);
  if (!refusal && whose && !share_->hung.has_room(*whose)) refusal = Refusal::User;
  if (refusal) count_refusal(*refusal);
  return !refusal;
}

ReaderClient::Reply ReaderClient::ask(const Request& request) {
  // Requests about no process are always admitted, however long other processes caused waits.
  const bool may = request.tgid == 0 || may_ask(request.tgid, request.parent_tgid);
  if (share_->stopping || !may || !has_reader()) return {};
  const MonotonicTime begin = share_->clock.now();
  Reply reply = exchange(request, kPatience);
  settle(request, begin, !reply.answered());
  return reply;
}

ReaderClient::Reply ReaderClient::ask_pieces(
    ReaderTask task, ReadOf what, const std::string& bytes,
    const std::function<std::uint32_t(std::size_t)>& tgid_of) {
  const MonotonicTime begin = share_->clock.now();
  reader_->page->piece = reader_->page->slowest = 0;
  Reply reply = exchange({.task = task, .path = {}, .bytes = bytes}, kPatience);
  const bool hung = !reply.answered();
  const std::uint32_t tgid = tgid_of(hung ? reader_->page->piece : reader_->page->slowest);
  settle({.what = what, .tgid = tgid, .path = {}, .bytes = {}}, begin, hung);
  return reply;
}

// A reader that could not be reached counts as hung, like one that did not answer.
void ReaderClient::settle(const Request& request, MonotonicTime begin, bool hung) {
  std::chrono::nanoseconds waited = share_->clock.now() - begin;
  if (!hung) {
    // The reader says it, so no longer than it took.
    const auto most = static_cast<std::uint64_t>(waited.count());
    waited = std::chrono::nanoseconds(std::min<std::uint64_t>(reader_->page->blocked_ns, most));
  }
  if (!hung && waited < kQuick) return;
  if (share_->stopping) return;
  pid_t reader = 0;
  if (hung) {
    if (const std::uint64_t mount = reader_->page->mount; mount != 0) share_->ledger.shun(mount);
    reader = give_up();
  }
  std::optional<Account> whose;
  if (request.tgid != 0) whose = account_now(request);
  share_->ledger.count_wait(request.tgid, whose, waited, hung);
  if (!hung) return;
  {
    const std::lock_guard lock(share_->looking);
    share_->hung.add(reader, whose);
  }
  if (share_->reports.hung) share_->reports.hung(request.what, request.tgid, request.path);
  look_at_hung();
}

}  // namespace offcpud
