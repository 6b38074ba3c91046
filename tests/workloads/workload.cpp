// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <thread>

namespace workload {
namespace {

std::int64_t gate_passed_ns = 0;

// Over all threads: from going to sleep at the first gate to going to sleep at the second.
std::atomic<std::int64_t>& between_gates_ns() {
  static auto& sum = shared<std::atomic<std::int64_t>>();
  return sum;
}

void wait_for_byte(int fd) {
  char byte = 0;
  while (::read(fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

std::string threads_as_json() {
  std::string text;
  DIR* tasks = ::opendir("/proc/self/task");
  if (!tasks) fail("/proc/self/task");
  while (const dirent* entry = ::readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/schedstat");
    long long run = 0, wait = 0, slices = 0;
    if (!(file >> run >> wait >> slices)) continue;
    char line[512];
    std::snprintf(line, sizeof line,
                  "%s{\"tid\":%s,\"run_ns\":%lld,\"run_delay_ns\":%lld,\"pcount\":%lld}",
                  text.empty() ? "" : ",", entry->d_name, run, wait, slices);
    text += line;
  }
  ::closedir(tasks);
  return text;
}

}  // namespace

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

Options::Options(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
}

int Options::number(const std::string& name, int otherwise) {
  const std::string value = text(name, "");
  return value.empty() ? otherwise : std::atoi(value.c_str());
}

std::string Options::text(const std::string& name, const std::string& otherwise) {
  const auto found = values_.find("--" + name);
  if (found == values_.end()) return otherwise;
  const std::string value = found->second;
  values_.erase(found);
  return value;
}

void Options::done() const {
  if (values_.empty()) return;
  std::fprintf(stderr, "unknown option %s\n", values_.begin()->first.c_str());
  std::exit(2);
}

void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

void burn(std::int64_t ns) {
  const std::int64_t end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

void sleep_ns(std::int64_t ns) {
  timespec left{ns / 1'000'000'000, ns % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

std::int64_t voluntary_switches() {
  rusage of{};
  ::getrusage(RUSAGE_THREAD, &of);
  return of.ru_nvcsw;
}

std::int64_t run_delay_ns() {
  thread_local const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  char text[96] = {};
  long long run = 0, delay = 0;
  if (::pread(file, text, sizeof text - 1, 0) <= 0 ||
      std::sscanf(text, "%lld %lld", &run, &delay) != 2) {
    fail("/proc/thread-self/schedstat");
  }
  return delay;
}

void enter_cgroup(const std::string& path) {
  if (path.empty()) return;
  std::ofstream file(path + "/cgroup.procs");
  file << 0 << std::flush;
  if (!file) fail("enter " + path);
}

void Waits::add(std::int64_t ns) {
  if (count < kKeep) kept[count] = ns;
  ++count;
  sum_ns += ns;
}

void* shared_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return memory;
}

Crew::Crew(Of what, int members, const Part& part, const Part& before_gate) : members_(members) {
  between_gates_ns();  // before any fork
  if (::pipe(start_) != 0 || ::pipe(done_) != 0 || ::pipe(end_) != 0) fail("pipe");
  for (int i = 0; i < members; ++i) {
    if (what == Of::Threads) {
      std::thread([this, i, part, before_gate] { member(i, part, before_gate); }).detach();
    } else {
      const pid_t child = ::fork();
      if (child < 0) fail("fork");
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        member(i, part, before_gate);
      }
    }
  }
}

void Crew::member(int index, const Part& part, const Part& before_gate) {
  if (before_gate) before_gate(index);
  between_gates_ns() -= now_ns();
  wait_for_byte(start_[0]);
  part(index);
  between_gates_ns() += now_ns();  // before the report can be made
  if (::write(done_[1], "", 1) != 1) fail("write");
  wait_for_byte(end_[0]);  // never comes: the end of the program ends every member
}

void Crew::go() {
  const std::string bytes(static_cast<std::size_t>(members_), 'g');
  if (::write(start_[1], bytes.data(), bytes.size()) < 0) fail("write");
}

void Crew::finished() {
  for (int i = 0; i < members_; ++i) wait_for_byte(done_[0]);
}

namespace {
// Maps the pages of a program or library that is loaded, which reads them from the disk if need be
// (MADV_POPULATE_READ, Linux 5.14).
int read_now(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr, start = begin & ~(page - 1);
    ::madvise(reinterpret_cast<void*>(start), begin + segment.p_memsz - start, MADV_POPULATE_READ);
  }
  return 0;
}
}  // namespace

void first_gate() {
  // Between the gates nobody is to wait for the disk unasked.
  ::dl_iterate_phdr(read_now, nullptr);
  std::puts("gate");
  std::fflush(stdout);
  between_gates_ns() -= now_ns();
  wait_for_byte(STDIN_FILENO);
  gate_passed_ns = now_ns();
}

void Report::second_gate() const {
  rusage self{}, children{};
  ::getrusage(RUSAGE_SELF, &self);
  ::getrusage(RUSAGE_CHILDREN, &children);
  std::string text = "{\"start_ns\":" + std::to_string(gate_passed_ns) +
                     ",\"end_ns\":" + std::to_string(now_ns()) +
                     ",\"between_gates_ns\":" + std::to_string(between_gates_ns() + now_ns()) +
                     ",\"nvcsw\":" + std::to_string(self.ru_nvcsw) +
                     ",\"majflt\":" + std::to_string(self.ru_majflt) +
                     ",\"nivcsw\":" + std::to_string(self.ru_nivcsw) +
                     ",\"children_nvcsw\":" + std::to_string(children.ru_nvcsw) +
                     ",\"children_nivcsw\":" + std::to_string(children.ru_nivcsw);
  for (const auto& [name, number] : numbers_) text += ",\"" + name + "\":" + std::to_string(number);
  text += ",\"threads\":[" + threads_as_json() + "],\"waits\":{";
  const char* separator = "";
  for (const auto& [name, waits] : waits_) {
    text += separator + ("\"" + name) + "\":{\"count\":" + std::to_string(waits->count) +
            ",\"sum_ns\":" + std::to_string(waits->sum_ns) +
            ",\"run_delay_ns\":" + std::to_string(waits->run_delay_ns) + ",\"kept_ns\":[";
    for (std::int64_t i = 0; i < waits->count && i < Waits::kKeep; ++i) {
      text += (i ? "," : "") + std::to_string(waits->kept[i]);
    }
    text += "]}";
    separator = ",";
  }
  text += "}}";
  std::puts(text.c_str());
  std::fflush(stdout);
  wait_for_byte(STDIN_FILENO);
  std::_Exit(0);  // threads of a crew still wait; processes of one are killed by the kernel
}

}  // namespace workload
