// SPDX-License-Identifier: Apache-2.0
// threads PORT: a thread for each kind of wait, named after it; the port is of a server that takes
// its time.
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

std::vector<std::thread> threads;

template <typename Function>
void start(const char* name, Function function) {
  threads.emplace_back([name, function] {
    pthread_setname_np(pthread_self(), name);
    function();
  });
}

template <typename Mutex>
void hold(Mutex& mutex) {
  for (;;) {
    mutex.lock();
    std::this_thread::sleep_for(60ms);
    mutex.unlock();
    std::this_thread::sleep_for(6ms);
  }
}

template <typename Mutex>
void use(Mutex& mutex) {
  for (;;) {
    mutex.lock();
    mutex.unlock();
    std::this_thread::sleep_for(1ms);
  }
}

void read_lock(std::shared_mutex& mutex) {
  for (;;) {
    mutex.lock_shared();
    mutex.unlock_shared();
    std::this_thread::sleep_for(1ms);
  }
}

struct SemaphoreLock {
  sem_t semaphore;
  SemaphoreLock() { sem_init(&semaphore, 0, 1); }
  void lock() { sem_wait(&semaphore); }
  void unlock() { sem_post(&semaphore); }
};

// A resource that threads borrow, such as a connection of a pool.
struct Pool {
  std::mutex mutex;
  std::condition_variable returned;
  int free = 1;
  void lock() {
    std::unique_lock hold(mutex);
    returned.wait(hold, [this] { return free > 0; });
    --free;
  }
  void unlock() {
    const std::lock_guard hold(mutex);
    ++free;
    returned.notify_one();
  }
};

struct Queue {
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<int> jobs;
  void put(int job) {
    const std::lock_guard hold(mutex);
    jobs.push_back(job);
    filled.notify_one();
  }
  int get() {
    std::unique_lock hold(mutex);
    filled.wait(hold, [this] { return !jobs.empty(); });
    const int job = jobs.front();
    jobs.pop_front();
    return job;
  }
};

int connect_to(int port);
void send_request(int server);
void read_answer(int server);

// As those who share what only one may use at a time.
template <typename Mutex>
void ask_with(Mutex& mutex, int port) {
  const int server = connect_to(port);
  for (;;) {
    mutex.lock();
    send_request(server);
    read_answer(server);
    mutex.unlock();
    std::this_thread::sleep_for(1ms);
  }
}

int connect_to(int port) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
  return server;
}

void send_request(int server) {
  const char request[] = "GET / HTTP/1.1\r\n\r\n";
  if (write(server, request, std::strlen(request)) < 0) std::abort();
}

void read_answer(int server) {
  char answer[40];
  if (recv(server, answer, sizeof answer, 0) <= 0) std::abort();
}

template <typename Wait>
void ask(int port, Wait wait) {
  const int server = connect_to(port);
  for (;;) {
    send_request(server);
    wait(server);
    read_answer(server);
  }
}

int listener() {
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  listen(one, 5);
  return one;
}

void poll_one(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  poll(&one, 1, -1);
}

void epoll_one(int fd) {
  const int set = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  epoll_wait(set, &event, 1, -1);
  close(set);
}

void start_locks() {
  static std::mutex mutex;
  static std::shared_mutex shared;
  static SemaphoreLock semaphore;
  static Pool pool;
  start("timer-mutex", [] { hold(mutex); });
  start("timer-shared", [] { hold(shared); });
  start("timer-semaphore", [] { hold(semaphore); });
  start("timer-pool", [] { hold(pool); });
  for (int i = 0; i < 2; ++i) {
    start("lock-mutex", [] { use(mutex); });
    start("lock-shared", [] { read_lock(shared); });
    start("lock-semaphore", [] { use(semaphore); });
    start("lock-pool", [] { use(pool); });
  }
}

void start_shared(int port) {
  static std::mutex mutex;
  static SemaphoreLock semaphore;
  static Pool pool;
  for (int i = 0; i < 3; ++i) {
    start("lock-ask", [=] { ask_with(mutex, port); });
    start("lock-ask-permit", [=] { ask_with(semaphore, port); });
    start("lock-ask-pool", [=] { ask_with(pool, port); });
  }
}

void start_queues() {
  static Queue fed, never;
  static sem_t ticks;
  sem_init(&ticks, 0, 0);
  start("timer-producer", [] {
    for (;;) {
      std::this_thread::sleep_for(60ms);
      fed.put(1);
      sem_post(&ticks);
    }
  });
  start("work-queue", [] {
    for (;;) fed.get();
  });
  start("work-semaphore", [] {
    for (;;) sem_wait(&ticks);
  });
  for (int i = 0; i < 3; ++i) start("work-never", [] { never.get(); });
  static Queue questions, answers;
  start("answer-queue", [] {
    for (;;) questions.put(1), answers.get();
  });
  start("timer-answers", [] {
    for (;;) {
      questions.get();
      std::this_thread::sleep_for(60ms);
      answers.put(1);
    }
  });
}

void nap_as(const char* name) {
  pthread_setname_np(pthread_self(), name);
  std::this_thread::sleep_for(300ms);
}

void start_futures() {
  start("answer-async", [] {
    for (;;) std::async(std::launch::async, nap_as, "timer-async").get();
  });
  start("answer-join", [] {
    for (;;) std::thread(nap_as, "timer-joined").join();
  });
  start("timer-sleep", [] {
    for (;;) std::this_thread::sleep_for(100ms);
  });
  static std::condition_variable stop;
  static std::mutex mutex;
  // A task that is done every 0.1 s unless the program ends.
  start("timer-condition", [] {
    std::unique_lock hold(mutex);
    for (;;) stop.wait_for(hold, 100ms);
  });
}

void start_sockets(int port) {
  start("answer-recv", [=] { ask(port, [](int) {}); });
  start("answer-poll", [=] { ask(port, poll_one); });
  start("answer-epoll", [=] { ask(port, epoll_one); });
  start("work-accept", [] { accept(listener(), nullptr, nullptr); });
  start("work-poll", [] { poll_one(listener()); });
  start("work-epoll", [] { epoll_one(listener()); });
  start("work-eventfd", [] { poll_one(eventfd(0, 0)); });
  static int pipe_of_this[2];
  if (pipe(pipe_of_this) != 0) std::abort();
  start("work-pipe", [] {
    char byte;
    if (read(pipe_of_this[0], &byte, 1) != 1) std::abort();
  });
}

}  // namespace

int main(int, char** arguments) {
  const int port = std::atoi(arguments[1]);
  start_locks();
  start_shared(port);
  start_queues();
  start_futures();
  start_sockets(port);
  pthread_setname_np(pthread_self(), "work-main");
  for (std::thread& thread : threads) thread.join();
}
