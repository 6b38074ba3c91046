// SPDX-License-Identifier: Apache-2.0
#include "reader/reader_spawner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <set>
#include <utility>

#include "reader/leftover_readers.h"
#include "reader/packet_socket.h"

namespace offcpud {
namespace {

// How long the daemon waits for the spawner, which does next to nothing.
constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::seconds kReapEvery{1};

enum class Order : std::uint32_t { Spawn, Abandon, Count };

struct OrderMessage {
  Order order = Order::Count;
  pid_t pid = 0;
  std::uint64_t number = 0;
};
struct OrderReply {
  std::uint64_t number = 0;  // of the order
  pid_t pid = 0;             // 0: none
  int error = 0;
  std::uint32_t hung = 0;
  std::array<pid_t, ReaderSpawner::kMostHung> readers{};  // the first `hung` of these
};

void close_all_but(int kept) {
  const auto close_range = [](unsigned first, unsigned last) {
    if (first > last || ::syscall(SYS_close_range, first, last, 0U) == 0) return;
    for (unsigned fd = first; fd <= last && fd < 65536; ++fd) (void)::close(static_cast<int>(fd));
  };
  const auto fd = static_cast<unsigned>(kept);
  if (fd > 3) close_range(3, fd - 1);
  close_range(fd + 1, UINT_MAX);
}

// Ignores signals meant for the daemon, which ends its readers after taking its last samples.
void ignore_signals() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) {
    (void)std::signal(number, SIG_IGN);
  }
}

// Makes this process end with its parent. False: the parent is gone already.
bool end_with(pid_t parent) {
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent;
}

// The daemon's standard streams may be pipes that a container runtime reads to the end; a hung
// reader must not hold them open.
void let_go_of_output() {
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    (void)::dup2(nothing.get(), standard);
  }
}

// Offers this process to the OOM killer first: a reader is replaced, the daemon is not.
void end_first_when_memory_is_short() {
  const UniqueFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) (void)!::write(file.get(), "500", 3);
}

class SpawnerProcess {
 public:
  SpawnerProcess(UniqueFd socket, const ReaderSpawner::Body& body, LeftoverReaders leftovers)
      : socket_(std::move(socket)),
        body_(body),
        pid_(::getpid()),
        leftovers_(std::move(leftovers)) {}

  void run() {
    for (;;) {
      const bool reaps = !abandoned_.empty();
      auto packet =
          receive_packet(socket_.get(), reaps ? kReapEvery : std::chrono::milliseconds(-1));
      if (!packet) return;
      reap();
      if (*packet) serve(**packet);
    }
  }

 private:
  void reap() {
    for (pid_t ended = 0; (ended = ::waitpid(-1, nullptr, WNOHANG)) > 0;) {
      running_.erase(ended);
      abandoned_.erase(ended);
    }
  }

  void serve(Packet& packet) {
    ByteReader reader(bytes_of(packet.bytes));
    const auto message = reader.take<OrderMessage>();
    OrderReply reply{.number = message.number};
    if (message.order == Order::Spawn) {
      reply.pid = spawn(packet);
      if (reply.pid < 0) reply.error = errno;
    } else if (message.order == Order::Abandon && running_.erase(message.pid) > 0) {
      abandoned_.insert(message.pid);  // it is not reaped yet, so it still has this number
      (void)::kill(message.pid, SIGKILL);
    }
    tell_hung(reply);
    PacketWriter writer;
    writer.put(reply);
    (void)send_packet(socket_.get(), writer.take());
  }

  void tell_hung(OrderReply& reply) {
    std::vector<pid_t> hung = leftovers_.remaining();
    hung.insert(hung.end(), abandoned_.begin(), abandoned_.end());
    reply.hung = static_cast<std::uint32_t>(std::min(hung.size(), reply.readers.size()));
    std::copy_n(hung.begin(), reply.hung, reply.readers.begin());
  }

  pid_t spawn(Packet& packet) {
    const pid_t child = ::fork();
    if (child > 0) {
      running_.insert(child);
      packet.fds = {};  // the reader's alone, before the daemon hears that there is one
    }
    if (child != 0) return child;
    socket_.reset();
    auto page = SharedReaderPage::open(std::move(packet.fds[1]));
    if (end_with(pid_) && page) {
      (void)::prctl(PR_SET_NAME, kReaderName);
      end_first_when_memory_is_short();
      let_go_of_output();
      body_(std::move(packet.fds[0]), *std::move(page));
    }
    ::_exit(0);
  }

  UniqueFd socket_;
  const ReaderSpawner::Body& body_;
  pid_t pid_;
  std::set<pid_t> running_;
  std::set<pid_t> abandoned_;  // those that have not ended
  LeftoverReaders leftovers_;
};

// An answer may belong to an earlier order that was given up; its number tells.
Result<OrderReply> order(int socket, const OrderMessage& message, std::span<const int> fds = {}) {
  PacketWriter writer;
  writer.put(message);
  TRY_VOID(send_packet(socket, writer.take(), fds));
  for (;;) {
    TRY(const auto packet, receive_packet(socket, kPatience));
    if (!packet) return Error("the process that starts readers does not answer");
    ByteReader reader(bytes_of(packet->bytes));
    const auto reply = reader.take<OrderReply>();
    if (reply.number == message.number) return reply;
  }
}

}  // namespace

Result<std::unique_ptr<ReaderSpawner>> ReaderSpawner::start(
    const Body& body, const std::function<void()>& prepare,
    const std::filesystem::path& neighbours) {
  TRY(auto sockets, packet_sockets());
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno(errno, "start the process that starts readers");
  if (child == 0) {
    sockets.first.reset();
    ignore_signals();
    close_all_but(sockets.second.get());
    (void)::prctl(PR_SET_NAME, kSpawnerName);
    if (end_with(parent)) {
      if (prepare) prepare();
      SpawnerProcess(std::move(sockets.second), body, LeftoverReaders::find(neighbours)).run();
    }
    ::_exit(0);
  }
  return std::unique_ptr<ReaderSpawner>(new ReaderSpawner(child, std::move(sockets.first)));
}

// The spawner ends with its socket, and its readers with it.
ReaderSpawner::~ReaderSpawner() {
  socket_.reset();
  (void)::waitpid(pid_, nullptr, 0);
}

Result<ReaderSpawner::Reader> ReaderSpawner::spawn() {
  Reader reader;
  TRY(auto sockets, packet_sockets());
  TRY(reader.page, SharedReaderPage::create());
  reader.socket = std::move(sockets.first);
  const std::array fds{sockets.second.get(), reader.page.fd()};
  const std::lock_guard lock(mutex_);
  TRY(const OrderReply reply,
      order(socket_.get(), {.order = Order::Spawn, .number = ++orders_}, fds));
  if (reply.pid <= 0) return Error::from_errno(reply.error, "start a reader");
  reader.pid = reply.pid;
  return reader;
}

void ReaderSpawner::abandon(pid_t pid) {
  const std::lock_guard lock(mutex_);
  (void)order(socket_.get(), {.order = Order::Abandon, .pid = pid, .number = ++orders_});
}

std::optional<std::vector<pid_t>> ReaderSpawner::hung() {
  const std::lock_guard lock(mutex_);
  const auto reply = order(socket_.get(), {.order = Order::Count, .number = ++orders_});
  if (!reply) return std::nullopt;
  const auto count = std::min<std::size_t>(reply->hung, reply->readers.size());
  return std::vector<pid_t>(reply->readers.begin(),
                            reply->readers.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace offcpud
