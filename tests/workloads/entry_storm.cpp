// SPDX-License-Identifier: Apache-2.0
// One process with `mappings` executable mappings of almost 256 GiB, of a page more and less than a
// power of two, so that each needs many entries of the daemon's map. For `seconds` it executes
// itself again (--way exec), forks a child every `ms` (--way fork), or replaces one of them by one
// of another size every `ms` (--way replace). As user `uid`; -1: whoever runs it. Truth: how often
// it did.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "workload.h"

using namespace workload;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kBits = 38;

void map_huge(std::uint64_t place, std::uint64_t pages_less, int flags) {
  const std::uint64_t begin = (place << kBits) + kPage;
  const std::uint64_t size = (std::uint64_t{1} << kBits) - (1 + pages_less) * kPage;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it is an address
  void* const at = ::mmap(reinterpret_cast<void*>(begin), size, PROT_READ | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (at == MAP_FAILED && errno != EEXIST) fail("mmap");  // the program itself is somewhere
}

struct Storm {
  int mappings;
  int ms;
  std::int64_t until;
  std::int64_t rounds;
  int answer;  // a pipe

  [[noreturn]] void end() const {
    if (::write(answer, &rounds, sizeof(rounds)) != sizeof(rounds)) fail("write");
    ::_exit(0);
  }
  [[noreturn]] void execute() const {
    if (now_ns() >= until) end();
    for (int i = 1; i <= mappings; ++i) map_huge(i, 1, MAP_FIXED_NOREPLACE);
    const auto text = [](std::int64_t number) { return std::to_string(number); };
    ::execl("/proc/self/exe", "entry_storm", "--way", "exec", "--mappings", text(mappings).c_str(),
            "--until", text(until).c_str(), "--rounds", text(rounds + 1).c_str(), "--answer",
            text(answer).c_str(), nullptr);
    fail("exec");
  }
  [[noreturn]] void fork() {
    for (int i = 1; i <= mappings; ++i) map_huge(i, 1, MAP_FIXED_NOREPLACE);
    for (; now_ns() < until; ++rounds) {
      const pid_t child = ::fork();
      if (child < 0) fail("fork");
      if (child == 0) ::_exit(0);
      sleep_ns(ms * 1'000'000LL);
      (void)::waitpid(child, nullptr, 0);
    }
    end();
  }
  [[noreturn]] void replace() {
    for (; now_ns() < until; ++rounds) {
      // Not where the program is.
      map_huge(100, 1 + rounds % 2, MAP_FIXED);
      sleep_ns(ms * 1'000'000LL);
    }
    end();
  }
};

std::int64_t number(Options& options, const std::string& name) {
  return std::strtoll(options.text(name, "0").c_str(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string way = options.text("way", "exec");
  const int seconds = options.number("seconds", 10), uid = options.number("uid", -1);
  Storm storm{.mappings = options.number("mappings", 500),
              .ms = options.number("ms", 2),
              .until = number(options, "until"),
              .rounds = number(options, "rounds"),
              .answer = options.number("answer", -1)};
  options.done();
  if (storm.until != 0) storm.execute();

  if (uid >= 0 && (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0))
    fail("setresuid");
  int answer[2];
  // NOLINTNEXTLINE(android-cloexec-pipe): who executes himself answers, too
  if (::pipe(answer) != 0) fail("pipe");
  first_gate();
  storm.answer = answer[1];
  storm.until = now_ns() + seconds * 1'000'000'000LL;
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a tester that gives up ends the first one only
    if (way == "exec") storm.execute();
    if (way == "fork") storm.fork();
    if (way == "replace") storm.replace();
    fail("which way?");
  }
  ::close(answer[1]);
  std::int64_t rounds = 0;
  if (::read(answer[0], &rounds, sizeof(rounds)) != sizeof(rounds)) fail("read");
  (void)::waitpid(child, nullptr, 0);
  Report report;
  report.add("rounds", rounds);
  report.second_gate();
}
