// SPDX-License-Identifier: Apache-2.0
// "worker" gets a message through a POSIX message queue every 10 ms, from "peer", and "busy"
// computes for 3 of 10 ms. After `lively` ms the peer stops, and with `home` the busy one, too. So
// the worker waits, where no rule says what for, until the peer stops it `silent` ms later. With
// `condition` it waits on a condition variable instead. Truth: the program's own clock.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "workload.h"

using namespace workload;

namespace {

constexpr std::int64_t kPeriodNs = 10'000'000, kBusyNs = 3'000'000;
constexpr char kMessage = 'm', kLast = 'l';

mqd_t queue = -1;
std::int64_t silent_since_ns = 0, over_ns = 0;
bool goes_home = false, by_condition = false;

std::mutex mutex;
std::condition_variable filled;
std::deque<char> messages;

void send(char message) {
  if (!by_condition) {
    if (::mq_send(queue, &message, 1, 0) != 0) fail("mq_send");
    return;
  }
  const std::lock_guard hold(mutex);
  messages.push_back(message);
  filled.notify_one();
}

char receive() {
  char message = 0;
  if (!by_condition) {
    if (::mq_receive(queue, &message, 1, nullptr) != 1) fail("mq_receive");
    return message;
  }
  std::unique_lock hold(mutex);
  filled.wait(hold, [] { return !messages.empty(); });
  message = messages.front();
  messages.pop_front();
  return message;
}

void peer() {
  ::prctl(PR_SET_NAME, "peer");
  for (; now_ns() < silent_since_ns; sleep_ns(kPeriodNs)) send(kMessage);
  sleep_ns(over_ns - now_ns());
  send(kLast);
}

void worker() {
  ::prctl(PR_SET_NAME, "worker");
  while (receive() != kLast) {
  }
}

void busy() {
  ::prctl(PR_SET_NAME, "busy");
  while (now_ns() < (goes_home ? silent_since_ns : over_ns)) {
    burn(kBusyNs);
    sleep_ns(kPeriodNs - kBusyNs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::int64_t lively_ns = std::int64_t{options.number("lively", 80'000)} * 1'000'000;
  const std::int64_t silent_ns = std::int64_t{options.number("silent", 20'000)} * 1'000'000;
  goes_home = options.number("home", 0) != 0;
  by_condition = options.number("condition", 0) != 0;
  options.done();

  const std::string name = "/offcpud-messages-" + std::to_string(::getpid());
  mq_attr attributes{};
  attributes.mq_maxmsg = 8;
  attributes.mq_msgsize = 1;
  queue = ::mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
  if (queue < 0) fail("mq_open");
  ::mq_unlink(name.c_str());

  Crew crew(Crew::Of::Threads, 3, [](int member) {
    if (member == 0) peer();
    if (member == 1) worker();
    if (member == 2) busy();
  });
  first_gate();
  silent_since_ns = now_ns() + lively_ns;
  over_ns = silent_since_ns + silent_ns;
  crew.go();
  crew.finished();
  Report report;
  report.add("silent_since_ns", silent_since_ns);
  report.second_gate();
}
