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

#include "unit/sites/labelled_stacks.h"
#include "unit/sites/reasons.h"

namespace offcpud {
namespace {

using test::kCondvar;
using test::kNetwork;
using test::kPolls;

struct PythonCase {
  const char* what;
  std::size_t reason;
  const char* native;     // the innermost functions of the program: "A@OBJECT < B@OBJECT"
  const char* functions;  // those of Python: "A@FILE < B@FILE"
  const char* kernel;
  const char* site;

  friend std::ostream& operator<<(std::ostream& out, const PythonCase& each) {
    return out << each.what;
  }
};

constexpr const char* kAcquire = "PyThread_acquire_lock_timed@python3.11";
constexpr const char* kAcquireOfMain =
    "PyThread_acquire_lock_timed@python3.11 < Py_RunMain@python3.11 < __libc_start_main@libc.so.6";
constexpr const char* kOldAcquire = "PyThread_acquire_lock_timed@python3.9";
constexpr const char* kPollCall = "poll@libc.so.6";
constexpr const char* kReceive = "recv@libc.so.6";
constexpr const char* kFutexWait = "futex_do_wait";
constexpr const char* kPolled = "do_sys_poll";
constexpr const char* kReceived = "sk_wait_data";

constexpr std::array kCases = {
    PythonCase{"a future", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Future.result@futures/_base.py < "
               "pay@shop/till.py",
               kFutexWait, "python-future"},
    PythonCase{"a future of Python 3.9", kCondvar, kOldAcquire,
               "wait@python3.9/threading.py < result@futures/_base.py < pay@shop/till.py",
               kFutexWait, "python-future"},
    PythonCase{"the first of several futures", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py < "
               "as_completed@futures/_base.py",
               kFutexWait, "python-future"},
    PythonCase{"a result of a pool of processes", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py < "
               "ApplyResult.wait@multiprocessing/pool.py < ApplyResult.get@multiprocessing/pool.py",
               kFutexWait, "python-pool-result"},
    PythonCase{"an idle worker of an executor", kCondvar, kAcquire,
               "_worker@futures/thread.py < Thread.run@python3.11/threading.py", kFutexWait,
               "python-idle-worker"},
    PythonCase{"a worker whose task waits for a lock", kCondvar, kAcquire,
               "pay@shop/till.py < _WorkItem.run@futures/thread.py < _worker@futures/thread.py",
               kFutexWait, "python-acquire"},
    PythonCase{"an idle process of a pool", OFFCPUD_BLOCKED_PIPE, "read@libc.so.6",
               "Connection._recv@multiprocessing/connection.py < "
               "_ConnectionBase.recv_bytes@multiprocessing/connection.py < "
               "SimpleQueue.get@multiprocessing/queues.py < worker@multiprocessing/pool.py",
               "anon_pipe_read", "python-idle-worker"},
    PythonCase{
        "a process of a pool whose job imports a module", kCondvar, kAcquire,
        "_ModuleLock.acquire@importlib._bootstrap < SimpleQueue.get@multiprocessing/queues.py < "
        "worker@multiprocessing/pool.py",
        kFutexWait, "python-import-lock"},
    PythonCase{"who joins a thread", kCondvar, kAcquire,
               "Thread._wait_for_tstate_lock@python3.11/threading.py < "
               "Thread.join@python3.11/threading.py < pay@shop/till.py < "
               "Thread._bootstrap@python3.11/threading.py",
               kFutexWait, "python-join"},
    PythonCase{"a thread of C that joins one of Python", kCondvar,
               "PyThread_acquire_lock_timed@python3.11 < start_thread@libc.so.6 < clone3@libc.so.6",
               "Thread.join@python3.11/threading.py < pay@shop/till.py", kFutexWait, "python-join"},
    PythonCase{"a main thread that waits until its jobs are done", kCondvar, kAcquireOfMain,
               "Condition.wait@python3.11/threading.py < Queue.join@python3.11/queue.py < "
               "<module>@shop/main.py",
               kFutexWait, "python-join"},
    PythonCase{"a request that a main thread handles", kCondvar, kAcquireOfMain,
               "Thread.join@python3.11/threading.py < pay@shop/till.py < "
               "SyncWorker.handle_request@workers/sync.py < SyncWorker.run@workers/sync.py",
               kFutexWait, "python-request-joins"},
    PythonCase{"a main thread that joins all others", kCondvar, kAcquireOfMain,
               "Thread._wait_for_tstate_lock@python3.11/threading.py < "
               "Thread.join@python3.11/threading.py < <module>@shop/main.py",
               kFutexWait, "python-main-joins"},
    PythonCase{"a main thread at its end", kCondvar, kAcquireOfMain,
               "_shutdown@python3.11/threading.py", kFutexWait, "python-main-joins"},
    PythonCase{
        "a queue", kCondvar, kAcquire,
        "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py < pay@shop/till.py",
        kFutexWait, "python-queue"},
    PythonCase{"a full queue", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Queue.put@python3.11/queue.py", kFutexWait,
               "python-full-queue"},
    PythonCase{"the GIL, in a queue", kCondvar,
               "pthread_cond_timedwait@libc.so.6 < python3.11!fn_1@python3.11",
               "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py", kFutexWait,
               "python-gil"},
    PythonCase{"the GIL, in an idle worker", kCondvar,
               "pthread_cond_timedwait@libc.so.6 < python3.11!fn_1@python3.11",
               "_worker@futures/thread.py < Thread.run@python3.11/threading.py", kFutexWait,
               "python-gil"},
    PythonCase{"the GIL of an interpreter with symbols, at a join", kCondvar,
               "__futex_abstimed_wait_common@libc.so.6 < pthread_cond_timedwait@libc.so.6 < "
               "take_gil@python3.9",
               "join@python3.9/threading.py", kFutexWait, "python-gil"},
    PythonCase{"a page that a queue's function needs", OFFCPUD_BLOCKED_DISK, "",
               "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py",
               "io_schedule", "storage"},
    PythonCase{"a pool of connections", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Queue.get@python3.11/queue.py < "
               "HTTPConnectionPool._get_conn@urllib3/connectionpool.py",
               kFutexWait, "python-connection-pool"},
    PythonCase{"an event", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py",
               kFutexWait, "python-event"},
    PythonCase{"a timer", kCondvar, kAcquire,
               "Condition.wait@python3.11/threading.py < Event.wait@python3.11/threading.py < "
               "Timer.run@python3.11/threading.py",
               kFutexWait, "python-timer"},
    PythonCase{"a loop of asyncio", kPolls, "epoll_wait@libc.so.6",
               "EpollSelector.select@python3.11/selectors.py < "
               "BaseEventLoop._run_once@asyncio/base_events.py",
               "do_epoll_wait", "python-asyncio-loop"},
    PythonCase{"what such a loop runs", kPolls, kPollCall,
               "HTTPConnection.getresponse@http/client.py < pay@shop/till.py < "
               "Handle._run@asyncio/events.py < BaseEventLoop._run_once@asyncio/base_events.py",
               kPolled, "python-http-answer"},
    PythonCase{"a server without clients", kPolls, kPollCall,
               "PollSelector.select@python3.11/selectors.py < "
               "BaseServer.serve_forever@python3.11/socketserver.py",
               kPolled, "python-server"},
    PythonCase{
        "an answer of redis", kNetwork, kReceive,
        "HiredisParser.read_response@redis/connection.py < Redis.execute_command@redis/client.py < "
        "BasicKeyCommands.get@commands/core.py",
        kReceived, "python-redis-answer"},
    PythonCase{
        "a job of redis", kNetwork, kReceive,
        "HiredisParser.read_response@redis/connection.py < Redis.execute_command@redis/client.py < "
        "ListCommands.blpop@commands/core.py",
        kReceived, "python-redis-push"},
    PythonCase{
        "messages of a stream of redis, or none", kNetwork, kReceive,
        "HiredisParser.read_response@redis/connection.py < StreamCommands.xread@commands/core.py",
        kReceived, "python-redis-stream"},
    PythonCase{"a message of redis", kNetwork, kReceive,
               "HiredisParser.read_response@redis/connection.py < "
               "PubSub.parse_response@redis/client.py",
               kReceived, "python-redis-push"},
    PythonCase{"an idle worker of gunicorn", kPolls, "select@libc.so.6",
               "SyncWorker.wait@workers/sync.py", "do_select", "gunicorn-idle"},
    PythonCase{"somebody else's functions of these names", kCondvar, kAcquire,
               "Condition.wait@shop/threading.py < Queue.get@shop/queue.py", kFutexWait,
               "python-acquire"},
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

class PythonRules : public testing::TestWithParam<PythonCase> {};

TEST_P(PythonRules, Take) {
  const PythonCase& each = GetParam();
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
