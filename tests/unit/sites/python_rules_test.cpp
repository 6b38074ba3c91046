// SPDX-License-Identifier: Apache-2.0
// What the shipped rules say of functions of Python: stacks that nobody recorded, written down from
// the sources of the libraries. That a function runs under a worker's or a loop's says nothing of
// what it waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "offcpud.h"
#include "unit/sites/labelled_stacks.h"

namespace offcpud {
namespace {

struct Case {
  const char* what;
  std::size_t reason;
  const char* native;     // the innermost functions of the program: "A@OBJECT < B@OBJECT"
  const char* functions;  // those of Python: "A@FILE < B@FILE"
  const char* kernel;
  const char* site;

  friend std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.what; }
};

constexpr std::size_t kCondvar = OFFCPUD_BLOCKED_CONDVAR, kPolls = OFFCPUD_BLOCKED_POLL,
                      kNetwork = OFFCPUD_BLOCKED_NETWORK;
constexpr const char* kLock = "PyThread_acquire_lock_timed@python3.11";
constexpr const char* kLockOfMain =
    "PyThread_acquire_lock_timed@python3.11 < Py_RunMain@python3.11 < __libc_start_main@libc.so.6";
constexpr const char* kOldLock = "PyThread_acquire_lock_timed@python3.9";
constexpr const char* kPoll = "poll@libc.so.6";
constexpr const char* kReceive = "recv@libc.so.6";
constexpr const char* kFutex = "futex_do_wait";
constexpr const char* kPolled = "do_sys_poll";
constexpr const char* kReceived = "sk_wait_data";

constexpr std::array kCases = {
    Case{"a future", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Future.result@futures/_base.py < "
         "pay@shop/till.py",
         kFutex, "python-future"},
    Case{"a future of Python 3.9", kCondvar, kOldLock,
         "wait@python3.9/threading.py < result@futures/_base.py < pay@shop/till.py", kFutex,
         "python-future"},
    Case{"the first of several futures", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py < "
         "as_completed@futures/_base.py",
         kFutex, "python-future"},
    Case{"a result of a pool of processes", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py < "
         "ApplyResult.wait@multiprocessing/pool.py < ApplyResult.get@multiprocessing/pool.py",
         kFutex, "python-pool-result"},
    Case{"an idle worker of an executor", kCondvar, kLock,
         "_worker@futures/thread.py < Thread.run@python3.11/threading.py", kFutex,
         "python-idle-worker"},
    Case{"a worker whose task waits for a lock", kCondvar, kLock,
         "pay@shop/till.py < _WorkItem.run@futures/thread.py < _worker@futures/thread.py", kFutex,
         "python-acquire"},
    Case{"an idle process of a pool", OFFCPUD_BLOCKED_PIPE, "read@libc.so.6",
         "Connection._recv@multiprocessing/connection.py < "
         "_ConnectionBase.recv_bytes@multiprocessing/connection.py < "
         "SimpleQueue.get@multiprocessing/queues.py < worker@multiprocessing/pool.py",
         "anon_pipe_read", "python-idle-worker"},
    Case{"a process of a pool whose job imports a module", kCondvar, kLock,
         "_ModuleLock.acquire@importlib._bootstrap < SimpleQueue.get@multiprocessing/queues.py < "
         "worker@multiprocessing/pool.py",
         kFutex, "python-import-lock"},
    Case{"who joins a thread", kCondvar, kLock,
         "Thread._wait_for_tstate_lock@python3.11/threading.py < "
         "Thread.join@python3.11/threading.py < pay@shop/till.py < "
         "Thread._bootstrap@python3.11/threading.py",
         kFutex, "python-join"},
    Case{"a thread of C that joins one of Python", kCondvar,
         "PyThread_acquire_lock_timed@python3.11 < start_thread@libc.so.6 < clone3@libc.so.6",
         "Thread.join@python3.11/threading.py < pay@shop/till.py", kFutex, "python-join"},
    Case{"a main thread that waits until its jobs are done", kCondvar, kLockOfMain,
         "Condition.wait@python3.11/threading.py < Queue.join@python3.11/queue.py < "
         "<module>@shop/main.py",
         kFutex, "python-join"},
    Case{"a request that a main thread handles", kCondvar, kLockOfMain,
         "Thread.join@python3.11/threading.py < pay@shop/till.py < "
         "SyncWorker.handle_request@workers/sync.py < SyncWorker.run@workers/sync.py",
         kFutex, "python-request-joins"},
    Case{"a main thread that joins all others", kCondvar, kLockOfMain,
         "Thread._wait_for_tstate_lock@python3.11/threading.py < "
         "Thread.join@python3.11/threading.py < <module>@shop/main.py",
         kFutex, "python-main-joins"},
    Case{"a main thread at its end", kCondvar, kLockOfMain, "_shutdown@python3.11/threading.py",
         kFutex, "python-main-joins"},
    Case{
        "a queue", kCondvar, kLock,
        "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py < pay@shop/till.py",
        kFutex, "python-queue"},
    Case{"a full queue", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Queue.put@python3.11/queue.py", kFutex,
         "python-full-queue"},
    Case{"the GIL, in a queue", kCondvar,
         "pthread_cond_timedwait@libc.so.6 < python3.11!fn_1@python3.11",
         "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py", kFutex,
         "python-gil"},
    Case{"the GIL, in an idle worker", kCondvar,
         "pthread_cond_timedwait@libc.so.6 < python3.11!fn_1@python3.11",
         "_worker@futures/thread.py < Thread.run@python3.11/threading.py", kFutex, "python-gil"},
    Case{"the GIL of an interpreter with symbols, at a join", kCondvar,
         "__futex_abstimed_wait_common@libc.so.6 < pthread_cond_timedwait@libc.so.6 < "
         "take_gil@python3.9",
         "join@python3.9/threading.py", kFutex, "python-gil"},
    Case{"a page that a queue's function needs", OFFCPUD_BLOCKED_DISK, "",
         "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py", "io_schedule",
         "storage"},
    Case{"a pool of connections", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py < "
         "HTTPConnectionPool._get_conn@urllib3/connectionpool.py",
         kFutex, "python-connection-pool"},
    Case{"an event", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py", kFutex,
         "python-event"},
    Case{"a timer", kCondvar, kLock,
         "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py < "
         "Timer.run@python3.11/threading.py",
         kFutex, "python-timer"},
    Case{"a loop of asyncio", kPolls, "epoll_wait@libc.so.6",
         "EpollSelector.select@python3.11/selectors.py < "
         "BaseEventLoop._run_once@asyncio/base_events.py",
         "do_epoll_wait", "python-asyncio-loop"},
    Case{"what such a loop runs", kPolls, kPoll,
         "HTTPConnection.getresponse@http/client.py < pay@shop/till.py < "
         "Handle._run@asyncio/events.py < BaseEventLoop._run_once@asyncio/base_events.py",
         kPolled, "python-http-answer"},
    Case{"a server without clients", kPolls, kPoll,
         "PollSelector.select@python3.11/selectors.py < "
         "BaseServer.serve_forever@python3.11/socketserver.py",
         kPolled, "python-server"},
    Case{
        "an answer of redis", kNetwork, kReceive,
        "HiredisParser.read_response@redis/connection.py < Redis.execute_command@redis/client.py < "
        "BasicKeyCommands.get@commands/core.py",
        kReceived, "python-redis-answer"},
    Case{
        "a job of redis", kNetwork, kReceive,
        "HiredisParser.read_response@redis/connection.py < Redis.execute_command@redis/client.py < "
        "ListCommands.blpop@commands/core.py",
        kReceived, "python-redis-push"},
    Case{"messages of a stream of redis, or none", kNetwork, kReceive,
         "HiredisParser.read_response@redis/connection.py < StreamCommands.xread@commands/core.py",
         kReceived, "python-redis-stream"},
    Case{"a message of redis", kNetwork, kReceive,
         "HiredisParser.read_response@redis/connection.py < "
         "PubSub.parse_response@redis/client.py",
         kReceived, "python-redis-push"},
    Case{"an idle worker of gunicorn", kPolls, "select@libc.so.6",
         "SyncWorker.wait@workers/sync.py", "do_select", "gunicorn-idle"},
    Case{"somebody else's functions of these names", kCondvar, kLock,
         "Condition.wait@shop/threading.py < Queue.get@shop/queue.py", kFutex, "python-acquire"},
};

// Innermost first, of "A@X < B@X".
std::vector<ReadFrame> frames_of(std::string_view text) {
  constexpr std::string_view kCalledBy = " < ";
  std::vector<ReadFrame> frames;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kCalledBy), text.size());
    const std::string_view part = text.substr(0, end);
    const std::size_t at = part.rfind('@');
    frames.push_back({std::string(part.substr(0, at)), std::string(part.substr(at + 1))});
    text.remove_prefix(std::min(end + kCalledBy.size(), text.size()));
  }
  return frames;
}

class PythonRules : public testing::TestWithParam<Case> {};

TEST_P(PythonRules, Take) {
  const Case& each = GetParam();
  ReadStack stack{.label = {}, .exe = "app", .reason = each.reason, .user = {}, .kernel = {}};
  stack.user = frames_of(each.native);
  for (const ReadFrame& frame : frames_of(each.functions)) {
    stack.user.push_back({frame.function + " (" + frame.object + ")", "[python]"});
  }
  std::ranges::reverse(stack.user);
  stack.kernel.push_back({each.kernel, {}});
  SiteMatcher matcher(shipped_rules());
  const auto* const rule = matcher.find(MatchedStack(stack, matcher).wait());
  EXPECT_EQ(rule == nullptr ? "" : rule->rule.name, each.site) << each.what;
}

INSTANTIATE_TEST_SUITE_P(All, PythonRules, testing::ValuesIn(kCases));

}  // namespace
}  // namespace offcpud
