// SPDX-License-Identifier: Apache-2.0
// Stacks that nobody recorded, written down from the programs' sources: what a rule must not take
// although its function is on the stack, and which of two rules comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "offcpud.h"
#include "sites/file_evidence.h"
#include "sites/wait_classifier.h"
#include "unit/sites/labelled_stacks.h"
#include "unit/sites/reasons.h"
#include "waited.h"

namespace offcpud {
namespace {

using test::kCondvar;
using test::kDisk;
using test::kLock;
using test::kPolls;
using Names = std::vector<std::string>;

struct NativeCase {
  const char* what;
  const char* exe;
  std::size_t reason;
  Names user;  // innermost first, function@object
  Names kernel;
  const char* site;  // "": no rule

  friend std::ostream& operator<<(std::ostream& out, const NativeCase& each) {
    return out << each.what;
  }
};

const Names kFutex = {"futex_do_wait", "do_futex"};
const Names kPoll = {"schedule_hrtimeout_range_clock", "do_epoll_wait"};

// What a loop or a pool runs is above it on the stack.
std::vector<NativeCase> tasks_and_loops() {
  return {
      {"a handler of a loop behind a mutex",
       "nginx",
       kLock,
       {"pthread_mutex_lock@libc.so.6", "ngx_handler@nginx", "nginx!fn_1@nginx",
        "ngx_process_events_and_timers@nginx"},
       kFutex,
       "mutex"},
      {"a handler of GLib's loop that asks PostgreSQL",
       "app",
       kPolls,
       {"poll@libc.so.6", "libpq.so.5!fn_1@libpq.so.5", "PQexec@libpq.so.5", "on_timer@app",
        "g_main_context_iteration@libglib-2.0.so.0", "g_main_loop_run@libglib-2.0.so.0"},
       kPoll,
       "postgresql-answer"},
      {"GLib's loop itself",
       "app",
       kPolls,
       {"poll@libc.so.6", "libglib-2.0.so.0!fn_1@libglib-2.0.so.0",
        "g_main_loop_run@libglib-2.0.so.0"},
       kPoll,
       "glib-loop"},
      {"a task of std::async behind a mutex",
       "app",
       kLock,
       {"pthread_mutex_lock@libc.so.6", "task@app",
        "std::__future_base::_State_baseV2::_M_do_set@app"},
       kFutex,
       "mutex"},
      {"a task of a pool of libuv behind a mutex",
       "node",
       kLock,
       {"pthread_mutex_lock@libc.so.6", "uv_mutex_lock@node", "work_of_module@node", "worker@node"},
       kFutex,
       "mutex"},
  };
}

// Processes of PostgreSQL and threads of MariaDB.
std::vector<NativeCase> databases() {
  return {
      {"a query that waits for parallel workers",
       "postgres",
       kPolls,
       {"epoll_wait@libc.so.6", "WaitEventSetWait@postgres", "WaitLatch@postgres",
        "postgres!fn_1@postgres", "PortalRun@postgres", "PostgresMain@postgres",
        "postgres!fn_2@postgres", "PostmasterMain@postgres"},
       kPoll,
       "postgresql-in-query"},
      {"the postmaster of PostgreSQL 16",
       "postgres",
       kPolls,
       {"epoll_wait@libc.so.6", "WaitEventSetWait@postgres", "ServerLoop@postgres",
        "PostmasterMain@postgres", "main@postgres"},
       kPoll,
       "postgresql-postmaster"},
      {"a background process that reads a block",
       "postgres",
       kDisk,
       {"pread@libc.so.6", "FileRead@postgres", "CheckpointerMain@postgres"},
       {"io_schedule", "folio_wait_bit_common"},
       "storage"},
      {"a reason that the kernel alone knows", "app", kDisk, {}, {}, "storage"},
      {"a spinlock of PostgreSQL, which naps",
       "postgres",
       OFFCPUD_BLOCKED_SLEEP,
       {"select@libc.so.6", "pg_usleep@postgres", "perform_spin_delay@postgres", "s_lock@postgres"},
       {"hrtimer_nanosleep"},
       "postgresql-spinlock"},
      {"MariaDB's InnoDB row lock without names",
       "mariadbd",
       kCondvar,
       {"pthread_cond_timedwait@libc.so.6", "mariadbd!fn_1@mariadbd",
        "handler::ha_index_read_map@mariadbd", "mysql_execute_command@mariadbd",
        "do_command@mariadbd"},
       kFutex,
       "mysql-row-lock-in-handler"},
      {"a thread of MariaDB that is kept for the next client",
       "mariadbd",
       kCondvar,
       {"pthread_cond_timedwait@libc.so.6", "do_handle_one_connection@mariadbd",
        "handle_one_connection@mariadbd", "mariadbd!fn_1@mariadbd", "libc.so.6!fn_1@libc.so.6",
        "libc.so.6!fn_2@libc.so.6"},
       kFutex,
       "mysql-idle-thread"},
      {"MariaDB's cleaner of pages",
       "mariadbd",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "mariadbd!fn_1@mariadbd",
        "libstdc++.so.6.0.30!fn_2@libstdc++.so.6.0.30", "libc.so.6!fn_1@libc.so.6",
        "libc.so.6!fn_2@libc.so.6"},
       kFutex,
       "mysql-background"},
      {"MariaDB without anything to do for a client",
       "mariadbd",
       kPolls,
       {"poll@libc.so.6", "vio_io_wait@mariadbd", "vio_read@mariadbd", "do_command@mariadbd"},
       kPoll,
       "mysql-client"},
      {"a purge of MariaDB behind a condition",
       "mariadbd",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "mariadbd!fn_1@mariadbd", "srv_purge@mariadbd",
        "tpool::thread_pool_generic::worker_main@mariadbd"},
       kFutex,
       "condition"},
      {"an idle pool of MariaDB",
       "mariadbd",
       kCondvar,
       {"pthread_cond_timedwait@libc.so.6", "tpool::thread_pool_generic::wait_for_tasks@mariadbd"},
       kFutex,
       "mysql-background"},
  };
}

// Everything else.
std::vector<NativeCase> others() {
  return {
      {"who waits for a mutex of Ruby",
       "ruby",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "rb_native_cond_wait@libruby-3.1.so.3.1.7",
        "libruby-3.1.so.3.1.7!fn_1@libruby-3.1.so.3.1.7",
        "libruby-3.1.so.3.1.7!fn_2@libruby-3.1.so.3.1.7",
        "libruby-3.1.so.3.1.7!fn_3@libruby-3.1.so.3.1.7",
        "rb_mutex_synchronize@libruby-3.1.so.3.1.7"},
       kFutex,
       "ruby-mutex"},
      {"who waits for a thread's end, with a mutex of Ruby held",
       "ruby",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "rb_native_cond_wait@libruby-3.1.so.3.1.7",
        "libruby-3.1.so.3.1.7!fn_1@libruby-3.1.so.3.1.7",
        "libruby-3.1.so.3.1.7!fn_2@libruby-3.1.so.3.1.7",
        "libruby-3.1.so.3.1.7!fn_3@libruby-3.1.so.3.1.7", "rb_ensure@libruby-3.1.so.3.1.7",
        "rb_vm_exec@libruby-3.1.so.3.1.7", "rb_ensure@libruby-3.1.so.3.1.7",
        "rb_mutex_synchronize@libruby-3.1.so.3.1.7"},
       kFutex,
       "ruby-join"},
      {"who asks the daemon is nobody's trouble",
       "offcpuctl",
       kPolls,
       {"poll@libc.so.6", "libcurl.so.4.8.0!fn_1@libcurl.so.4.8.0",
        "curl_multi_poll@libcurl.so.4.8.0", "curl_easy_perform@libcurl.so.4.8.0"},
       {"schedule_hrtimeout_range_clock", "do_sys_poll"},
       "offcpuctl"},
      {"who asks somebody else waits for an answer",
       "curl",
       kPolls,
       {"poll@libc.so.6", "libcurl.so.4.8.0!fn_1@libcurl.so.4.8.0",
        "curl_multi_poll@libcurl.so.4.8.0", "curl_easy_perform@libcurl.so.4.8.0"},
       {"schedule_hrtimeout_range_clock", "do_sys_poll"},
       "curl-answer"},
      {"io_uring counts as a disk",
       "mariadbd",
       kDisk,
       {"syscall@libc.so.6"},
       {"io_schedule", "io_cqring_wait"},
       "mysql-asynchronous-io"},
      {"io_uring of anybody else",
       "app",
       kDisk,
       {"syscall@libc.so.6"},
       {"io_cqring_wait_schedule", "io_cqring_wait"},
       "io-uring"},
      {"`with lock` of Debian 13",
       "python3",
       kCondvar,
       {"libc.so.6!fn_1@libc.so.6", "_PySemaphore_Wait@python3.13", "_PyParkingLot_Park@python3.13",
        "python3.13!fn_1@python3.13", "python3.13!fn_2@python3.13",
        "_PyObject_MakeTpCall@python3.13"},
       kFutex,
       "python-with-lock"},
      {"another Python's `with lock`",
       "python3",
       kCondvar,
       {"libc.so.6!fn_1@libc.so.6", "_PySemaphore_Wait@libpython3.14.so.1.0",
        "_PyParkingLot_Park@libpython3.14.so.1.0", "libpython3.14.so.1.0!fn_1@libpython3.14.so.1.0",
        "libpython3.14.so.1.0!fn_2@libpython3.14.so.1.0",
        "_PyObject_MakeTpCall@libpython3.14.so.1.0"},
       kFutex,
       "python-acquire"},
      {"the main thread of Python that waits for the others",
       "python3",
       kCondvar,
       {"_PySemaphore_Wait@python3.13", "_PyParkingLot_Park@python3.13",
        "PyEvent_WaitTimed@python3.13", "_PyEval_EvalFrameDefault@python3.13",
        "Py_RunMain@python3.13"},
       kFutex,
       "python-main-joins"},
      {"a thread of Python that waits for another one",
       "python3",
       kCondvar,
       {"_PySemaphore_Wait@python3.13", "_PyParkingLot_Park@python3.13",
        "PyEvent_WaitTimed@python3.13", "_PyEval_EvalFrameDefault@python3.13"},
       kFutex,
       "python-join"},
      {"who waits for a mutex of Ruby of Debian 13",
       "ruby",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "rb_native_cond_wait@libruby-3.3.so.3.3.8",
        "libruby-3.3.so.3.3.8!fn_1@libruby-3.3.so.3.3.8",
        "libruby-3.3.so.3.3.8!fn_2@libruby-3.3.so.3.3.8",
        "libruby-3.3.so.3.3.8!fn_3@libruby-3.3.so.3.3.8",
        "rb_mutex_synchronize@libruby-3.3.so.3.3.8"},
       kFutex,
       "ruby-mutex"},
      {"who waits for a mutex of a Ruby whose frames nobody has counted",
       "ruby",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "rb_native_cond_wait@libruby-3.4.so.3.4.1",
        "libruby-3.4.so.3.4.1!fn_1@libruby-3.4.so.3.4.1",
        "libruby-3.4.so.3.4.1!fn_2@libruby-3.4.so.3.4.1",
        "libruby-3.4.so.3.4.1!fn_3@libruby-3.4.so.3.4.1",
        "rb_mutex_synchronize@libruby-3.4.so.3.4.1"},
       kFutex,
       "condition"},
      {"a short name in somebody else's program",
       "app",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "uv_cond_wait@app", "worker@app"},
       kFutex,
       "condition"},
      {"Rust's mutex by the new mangling",
       "app",
       kLock,
       {"syscall@libc.so.6", "<std::sys::sync::mutex::futex::Mutex>::lock_contended@app",
        "main@app"},
       kFutex,
       "rust-mutex"},
      {"the main thread of Rust that joins its workers",
       "app",
       kCondvar,
       {"<std::sys::thread::unix::Thread>::join@app", "app::main@app",
        "std::rt::lang_start_internal@app", "main@app", "__libc_start_main@libc.so.6"},
       kFutex,
       "rust-main-joins"},
      {"a main thread without a name that joins its workers in another function",
       "app",
       kCondvar,
       {"std::thread::join@libstdc++.so.6.0.30", "app!fn_1200@app", "app!fn_1100@app",
        "__libc_start_main@libc.so.6"},
       kFutex,
       "main-joins"},
      {"a thread that joins another one",
       "app",
       kCondvar,
       {"std::thread::join@libstdc++.so.6.0.30", "app::work@app"},
       kFutex,
       "join"},
      {"the main thread of Debian's Ruby, which is stripped",
       "ruby",
       kCondvar,
       {"pthread_cond_wait@libc.so.6", "rb_native_cond_wait@libruby-3.1.so.3.1.2",
        "libruby-3.1.so.3.1.2!fn_1@libruby-3.1.so.3.1.2",
        "libruby-3.1.so.3.1.2!fn_2@libruby-3.1.so.3.1.2",
        "libruby-3.1.so.3.1.2!fn_3@libruby-3.1.so.3.1.2", "rb_ensure@libruby-3.1.so.3.1.2",
        "ruby3.1!fn_1100@ruby3.1", "__libc_start_main@libc.so.6"},
       kFutex,
       "ruby-main-joins"},
      {"a tunnel through Apache",
       "apache2",
       OFFCPUD_BLOCKED_POLL,
       {"poll@libc.so.6", "apr_pollset_poll@libapr-1.so.0", "ap_proxy_tunnel_run@mod_proxy.so"},
       {"do_poll"},
       "apache-tunnel"},
  };
}

// What the kernel alone says, and its own threads.
std::vector<NativeCase> of_the_kernel() {
  return {
      {"memory before disk",
       "app",
       kDisk,
       {"malloc@libc.so.6"},
       {"io_schedule", "shrink_folio_list", "try_to_free_pages"},
       "memory-reclaim"},
      {"a futex in a library whose symbols are not read",
       "beam.smp",
       OFFCPUD_BLOCKED_LOCK,
       {"[libc.so.6+0x101829]@libc.so.6", "[beam.smp+0x2ea567]@beam.smp"},
       {"futex_wait"},
       "futex"},
      {"the same in one that has symbols",
       "beam.smp",
       OFFCPUD_BLOCKED_LOCK,
       {"libc.so.6!fn_85e40@libc.so.6", "malloc@libc.so.6", "[beam.smp+0x2ea567]@beam.smp"},
       {"futex_wait"},
       "lock-of-libc"},
      {"an idle thread in sem_wait() of glibc 2.31",
       "worker",
       OFFCPUD_BLOCKED_LOCK,
       {"libpthread-2.31.so!fn_12f40@libpthread-2.31.so", "worker_main@worker",
        "start_thread@libpthread-2.31.so"},
       {"futex_wait"},
       "futex"},
      {"the same in pthread_join(), with debug symbols",
       "worker",
       OFFCPUD_BLOCKED_LOCK,
       {"__pthread_clockjoin_ex@libpthread-2.31.so", "main@worker"},
       {"futex_wait"},
       "main-joins"},
      {"a robust mutex",
       "app",
       OFFCPUD_BLOCKED_LOCK,
       {"libc.so.6!fn_8a1b0@libc.so.6", "work@app", "main@app"},
       {"futex_wait"},
       "futex"},
      {"who comes second to pthread_once()",
       "app",
       OFFCPUD_BLOCKED_LOCK,
       {"pthread_once.tailcall@libc.so.6", "work@app", "start_thread@libc.so.6"},
       {"futex_wait"},
       "once"},
      {"pthread_timedjoin_np(), which ends in the same code as pthread_join()",
       "app",
       OFFCPUD_BLOCKED_CONDVAR,
       {"libc.so.6!fn_85e50@libc.so.6", "pthread_join.tailcall@libc.so.6", "work@app",
        "start_thread@libc.so.6"},
       {"futex_wait"},
       "join"},
      {"the launcher of Java, whose symbols are not read yet",
       "java",
       OFFCPUD_BLOCKED_CONDVAR,
       {"libc.so.6!fn_85e50@libc.so.6", "pthread_join.tailcall@libc.so.6",
        "[libjli.so+0x8679]@libjli.so", "[java+0x1205]@java", "libc.so.6!fn_271d0@libc.so.6",
        "__libc_start_main@libc.so.6"},
       {"futex_wait"},
       "main-joins"},
      {"an idle thread in sem_wait()",
       "app",
       OFFCPUD_BLOCKED_LOCK,
       {"sem_wait.tailcall@libc.so.6", "work@app", "start_thread@libc.so.6"},
       {"futex_wait"},
       "semaphore"},
      {"a stopped thread, whatever it did",
       "postgres",
       OFFCPUD_BLOCKED_STOPPED,
       {"ProcSleep@postgres"},
       {"do_signal_stop"},
       "stopped"},
      {"a name that the kernel cut",
       "containerd-shim",
       OFFCPUD_BLOCKED_CHILD,
       {},
       {"do_wait"},
       "service-wrapper"},
      {"a thread of the kernel that waits for a disk",
       "kworker/u8:1",
       kDisk,
       {},
       {"io_schedule", "wb_writeback", "process_one_work", "worker_thread", "kthread"},
       "storage"},
      {"an idle one",
       "kworker/u8:1",
       OFFCPUD_BLOCKED_KERNEL,
       {},
       {"worker_thread", "kthread"},
       "idle-kernel-thread"},
      {"one that works and waits",
       "kworker/u8:1",
       OFFCPUD_BLOCKED_KERNEL,
       {},
       {"schedule_timeout", "msleep", "some_driver", "process_one_work", "worker_thread",
        "kthread"},
       ""},
  };
}

class ShippedRules : public testing::TestWithParam<NativeCase> {};

TEST_P(ShippedRules, Take) {
  const NativeCase& each = GetParam();
  ReadStack stack{.label = {}, .exe = each.exe, .reason = each.reason, .user = {}, .kernel = {}};
  for (const std::string& frame : each.user) {
    const std::size_t at = frame.rfind('@');
    stack.user.push_back({frame.substr(0, at), frame.substr(at + 1)});
  }
  for (const std::string& frame : each.kernel) stack.kernel.push_back({frame, {}});
  std::ranges::reverse(stack.user);
  std::ranges::reverse(stack.kernel);
  SiteMatcher matcher(shipped_rules());
  const auto* const rule = matcher.find(MatchedStack(stack, matcher).wait());
  EXPECT_EQ(rule == nullptr ? "" : rule->rule.name, each.site) << each.what;
}

// `git log` before a pager that somebody has left open is no stall that people are told of.
TEST(ShippedRulesOfWriters, AreCertainOfSocketsButNotOfPipes) {
  WaitClassifier classifier(shipped_rules());
  const auto class_of = [&](std::size_t reason, std::vector<SiteFrame> kernel) {
    return classifier.classify("git", reason, {}, kernel);
  };
  for (const char* const function : {"pipe_write", "anon_pipe_write"}) {
    const WaitClass pipe = class_of(OFFCPUD_BLOCKED_PIPE, {{"vfs_write", {}}, {function, {}}});
    EXPECT_EQ(pipe.wait_for, WaitFor::Answer);
    EXPECT_FALSE(pipe.certain);
    EXPECT_EQ(by_files(pipe.ask, OFFCPUD_ON_PIPE | OFFCPUD_ON_ALONE), std::nullopt);
    EXPECT_FALSE(asks_for_chains(pipe.ask)) << "they are for readers";
  }
  const WaitClass socket = class_of(OFFCPUD_BLOCKED_NETWORK,
                                    {{"tcp_sendmsg_locked", {}}, {"sk_stream_wait_memory", {}}});
  EXPECT_EQ(socket.wait_for, WaitFor::Answer);
  EXPECT_TRUE(socket.certain);
}

// The same functions of a client's library wait for answers, and for whatever a server sends one
// day.
TEST(ShippedRulesOfClients, AreCertainOfQuestionsAndAskWhoSpokeLastElsewhere) {
  struct Client {
    SiteFrame function;
    WaitFor wait_for;
    bool certain;
  };
  const std::vector<Client> clients = {
      {{"PQexec", "libpq.so.5.15"}, WaitFor::Answer, true},
      {{"PQgetCopyData", "libpq.so.5.15"}, WaitFor::Answer, false},
      {{"mysql_real_query", "libmariadb.so.3"}, WaitFor::Answer, true},
      {{"mysql_store_result", "libmysqlclient.so.21"}, WaitFor::Answer, true},
      {{"libmariadb.so.3!fn_1", "libmariadb.so.3"}, WaitFor::Answer, false},
      {{"mariadb_rpl_fetch", "libmariadb.so.3"}, WaitFor::Work, true},
      {{"ldap_result", "libldap-2.5.so.0"}, WaitFor::Answer, false},
      {{"memcached_get", "libmemcached.so.11"}, WaitFor::Answer, true},
  };
  constexpr std::uint32_t kOnHeard = OFFCPUD_ON_HEARD | OFFCPUD_ON_ALONE;
  constexpr std::uint32_t kOnAsked = OFFCPUD_ON_ASKED | OFFCPUD_ON_ALONE;
  WaitClassifier classifier(shipped_rules());
  for (const Client& each : clients) {
    const std::vector<SiteFrame> user = {{"main", "app"}, each.function, {"poll", "libc.so.6"}};
    const std::vector<SiteFrame> kernel = {{"do_sys_poll", {}}};
    const WaitClass found = classifier.classify("app", kPolls, user, kernel);
    EXPECT_EQ(found.wait_for, each.wait_for) << each.function.function;
    EXPECT_EQ(found.certain, each.certain) << each.function.function;
    const auto heard = by_files(found.ask, kOnHeard), asked = by_files(found.ask, kOnAsked);
    if (each.certain) {
      EXPECT_EQ(heard, std::nullopt) << each.function.function;
      continue;
    }
    ASSERT_TRUE(heard && asked) << each.function.function;
    EXPECT_EQ(heard->wait_for, WaitFor::Work) << each.function.function;
    EXPECT_EQ(asked->wait_for, WaitFor::Answer) << each.function.function;
  }
}

INSTANTIATE_TEST_SUITE_P(TasksAndLoops, ShippedRules, testing::ValuesIn(tasks_and_loops()));
INSTANTIATE_TEST_SUITE_P(Databases, ShippedRules, testing::ValuesIn(databases()));
INSTANTIATE_TEST_SUITE_P(OfTheKernel, ShippedRules, testing::ValuesIn(of_the_kernel()));
INSTANTIATE_TEST_SUITE_P(Others, ShippedRules, testing::ValuesIn(others()));

}  // namespace
}  // namespace offcpud
