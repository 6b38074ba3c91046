// SPDX-License-Identifier: Apache-2.0
// Waits `count` times about `us` microseconds in one blocking call, chosen by `kind`, that nothing
// but its own timeout (or a timer's signal) ends. Truth: the program's own clock around the call.
// Ends with status 77 where the kernel refuses what the kind needs.
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "workload.h"

using namespace workload;

namespace {

std::int64_t wait_ns = 0;

timespec relative() {
  return {wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
}
timeval relative_us() {
  return {wait_ns / 1'000'000'000, wait_ns % 1'000'000'000 / 1000};
}
timespec wall_deadline() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t ns = now.tv_nsec + wait_ns;
  return {now.tv_sec + ns / 1'000'000'000, ns % 1'000'000'000};
}

// SIGALRM ends the next call, which has no timeout of its own.
void alarm_in_time() {
  const itimerval timer{{0, 0}, relative_us()};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

int receiving_socket(int domain, int type) {
  const int socket = ::socket(domain, type, 0);
  const timeval timeout = relative_us();
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0) fail("bind");
  return socket;
}

struct Kind {
  const char* name;
  std::function<void()> prepare, wait;
};

std::uint64_t ticks;
char byte;
int fd = -1;
int pipe_ends[2];
std::uint32_t word = 0;
sem_t semaphore;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pollfd never{-1, POLLIN, 0};
epoll_event event;
sigset_t set;
sembuf down{0, -1, 0};
msgbuf message;

// An io_uring with one request on its way: a recv on a socket that nobody writes to.
void submit_recv() {
  io_uring_params parameters{};
  fd = static_cast<int>(::syscall(SYS_io_uring_setup, 4, &parameters));
  if (fd < 0) std::exit(77);
  const auto map = [](std::size_t bytes, off_t offset) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (memory == MAP_FAILED) fail("mmap io_uring");
    return static_cast<char*>(memory);
  };
  const auto& at = parameters.sq_off;
  char* ring = map(at.array + parameters.sq_entries * sizeof(std::uint32_t), IORING_OFF_SQ_RING);
  auto* request = reinterpret_cast<io_uring_sqe*>(
      map(parameters.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) fail("socketpair");
  request->opcode = IORING_OP_RECV;
  request->fd = sockets[0];
  request->addr = reinterpret_cast<std::uint64_t>(&byte);
  request->len = 1;
  *reinterpret_cast<std::uint32_t*>(ring + at.array) = 0;
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(ring + at.tail), 1, __ATOMIC_RELEASE);
  if (::syscall(SYS_io_uring_enter, fd, 1, 0, 0, nullptr, 0) != 1) fail("io_uring_enter");
}

// The kernel's log, up to its end: the next read waits for a message.
void open_kernel_log() {
  fd = ::open("/proc/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) std::exit(77);
  char messages[8192];
  while (::read(fd, messages, sizeof messages) > 0) {
  }
  if (errno != EAGAIN) std::exit(77);
  ::fcntl(fd, F_SETFL, 0);
}

// Removes the directory once this process is gone, however it ends.
void remove_after_exit(const std::string& directory) {
  int alive[2];
  if (::pipe(alive) != 0) fail("pipe");
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child > 0) {
    ::close(alive[0]);
    return;
  }
  ::close(alive[1]);
  (void)!::read(alive[0], &byte, 1);
  for (int i = 0; i < 100 && ::rmdir(directory.c_str()) != 0; ++i) {
    sleep_ns(10'000'000);  // the exit has not come to the file in it yet
  }
  ::_exit(0);
}

// A trace buffer of our own, without events, reached by a mount that nobody else sees.
void open_trace_pipe() {
  const std::string mount_point = "/sys/kernel/tracing";
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tracefs", mount_point.c_str(), "tracefs", 0, nullptr) != 0) {
    std::exit(77);
  }
  const std::string instance =
      mount_point + "/instances/offcpud-test-" + std::to_string(::getpid());
  if (::mkdir(instance.c_str(), 0700) != 0) std::exit(77);
  remove_after_exit(instance);
  fd = ::open((instance + "/trace_pipe").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) std::exit(77);
}

void read_until_alarm() {
  alarm_in_time();
  (void)!::read(fd, &byte, 1);
}

const Kind kKinds[] = {
    {"nanosleep", [] {},
     [] {
       auto t = relative();
       ::nanosleep(&t, nullptr);
     }},
    {"clock_nanosleep", [] {},
     [] {
       auto t = relative();
       ::clock_nanosleep(CLOCK_REALTIME, 0, &t, nullptr);
     }},
    {"pause", [] {},
     [] {
       alarm_in_time();
       ::pause();
     }},
    {"poll", [] {}, [] { ::poll(&never, 1, static_cast<int>(wait_ns / 1'000'000)); }},
    {"ppoll", [] {},
     [] {
       auto t = relative();
       ::ppoll(&never, 1, &t, nullptr);
     }},
    {"select", [] {},
     [] {
       auto t = relative_us();
       ::select(0, nullptr, nullptr, nullptr, &t);
     }},
    {"pselect", [] {},
     [] {
       auto t = relative();
       ::pselect(0, nullptr, nullptr, nullptr, &t, nullptr);
     }},
    {"epoll", [] { fd = ::epoll_create1(0); },
     [] { ::epoll_wait(fd, &event, 1, static_cast<int>(wait_ns / 1'000'000)); }},
    {"sigtimedwait",
     [] {
       ::sigemptyset(&set);
       ::sigaddset(&set, SIGUSR1);
       ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
     },
     [] {
       auto t = relative();
       ::sigtimedwait(&set, nullptr, &t);
     }},
    {"timerfd", [] { fd = ::timerfd_create(CLOCK_MONOTONIC, 0); },
     [] {
       const itimerspec timer{{0, 0}, relative()};
       ::timerfd_settime(fd, 0, &timer, nullptr);
       (void)!::read(fd, &ticks, sizeof ticks);
     }},
    {"io_uring", submit_recv,
     [] {
       alarm_in_time();
       ::syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
     }},
    {"futex_wait", [] {},
     [] {
       auto t = relative();
       ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t);
     }},
    {"mutex_timedlock", [] { ::pthread_mutex_lock(&mutex); },
     [] {
       auto t = wall_deadline();
       ::pthread_mutex_timedlock(&mutex, &t);
     }},
    {"condition", [] { ::pthread_mutex_lock(&mutex); },
     [] {
       auto t = wall_deadline();
       ::pthread_cond_timedwait(&condition, &mutex, &t);
     }},
    {"semaphore", [] { ::sem_init(&semaphore, 0, 0); },
     [] {
       auto t = wall_deadline();
       ::sem_timedwait(&semaphore, &t);
     }},
    {"sysv_semaphore", [] { fd = ::semget(IPC_PRIVATE, 1, 0600); },
     [] {
       auto t = relative();
       ::semtimedop(fd, &down, 1, &t);
     }},
    {"recv", [] { fd = receiving_socket(AF_INET, SOCK_DGRAM); },
     [] { (void)!::recv(fd, &byte, 1, 0); }},
    {"socket_read", [] { fd = receiving_socket(AF_INET, SOCK_DGRAM); },
     [] { (void)!::read(fd, &byte, 1); }},
    {"accept",
     [] {
       fd = receiving_socket(AF_INET, SOCK_STREAM);
       ::listen(fd, 1);
     },
     [] { (void)!::accept(fd, nullptr, nullptr); }},
    {"pipe_read", [] { (void)!::pipe(pipe_ends); },
     [] {
       alarm_in_time();
       (void)!::read(pipe_ends[0], &byte, 1);
     }},
    {"kmsg", open_kernel_log, read_until_alarm},
    {"trace_pipe", open_trace_pipe, read_until_alarm},
    {"message_queue", [] { fd = ::msgget(IPC_PRIVATE, 0600); },
     [] {
       alarm_in_time();
       (void)!::msgrcv(fd, &message, 1, 0, 0);
     }},
};

void clean_up(const std::string& kind) {
  if (kind == "sysv_semaphore") ::semctl(fd, 0, IPC_RMID);
  if (kind == "message_queue") ::msgctl(fd, IPC_RMID, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 20);
  wait_ns = options.number("us", 5'000) * 1000LL;
  const std::string name = options.text("kind", "nanosleep");
  options.done();
  const Kind* kind = nullptr;
  for (const Kind& k : kKinds) {
    if (name == k.name) kind = &k;
  }
  if (!kind) fail("unknown kind " + name);
  struct sigaction action = {};
  action.sa_handler = [](int) {};  // without SA_RESTART: the call ends
  ::sigaction(SIGALRM, &action, nullptr);

  kind->prepare();
  static Waits waits;
  first_gate();
  for (int i = 0; i < count; ++i) timed(waits, [&] { return kind->wait(), 0; });
  clean_up(name);

  Report report;
  report.add("wait", waits);
  report.second_gate();
}
