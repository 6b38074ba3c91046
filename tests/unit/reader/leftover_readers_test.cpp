// SPDX-License-Identifier: Apache-2.0
#include "reader/leftover_readers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "reader/reader_spawner.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

// A process that waits for a signal, by this name.
class Waiting {
 public:
  explicit Waiting(const char* name) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      (void)::prctl(PR_SET_NAME, name);
      (void)!::write(ends[1], "x", 1);
      ::pause();
      ::_exit(0);
    }
    char ready = 0;
    (void)!::read(ends[0], &ready, 1);
    (void)::close(ends[0]);
    (void)::close(ends[1]);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    (void)::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Its end, without taking it from whoever waits for it.
  [[nodiscard]] bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

 private:
  pid_t pid_ = -1;
};

TEST(LeftoverReaders, AreKilledAndCountUntilTheyEnd) {
  const Waiting reader(kReaderName), other("offcpud-readers");
  const TempTree tree({{"cgroup.procs", std::to_string(other.pid()) + "\n" +
                                            std::to_string(reader.pid()) + "\n4194305\n"}});
  LeftoverReaders found = LeftoverReaders::find(tree.root() / "cgroup.procs");
  for (int i = 0; i < 1000 && !found.remaining().empty(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(found.remaining().empty());
  EXPECT_TRUE(reader.ended());
  EXPECT_FALSE(other.ended());
}

// Those of another daemon in the same cgroup have a parent that looks after them.
TEST(LeftoverReaders, AreNotThoseOfASpawnerThatRuns) {
  auto spawner = ReaderSpawner::start([](UniqueFd, SharedReaderPage) { ::pause(); });
  ASSERT_TRUE(spawner);
  const auto reader = (*spawner)->spawn();
  ASSERT_TRUE(reader);
  const TempTree tree({{"cgroup.procs", std::to_string(reader->pid) + "\n"}});
  EXPECT_TRUE(LeftoverReaders::find(tree.root() / "cgroup.procs").remaining().empty());
  EXPECT_EQ(::kill(reader->pid, 0), 0);
}

TEST(LeftoverReaders, NoneWhereNobodyTells) {
  EXPECT_TRUE(LeftoverReaders::find("").remaining().empty());
  EXPECT_TRUE(LeftoverReaders::find("/nowhere/cgroup.procs").remaining().empty());
}

}  // namespace
}  // namespace offcpud
