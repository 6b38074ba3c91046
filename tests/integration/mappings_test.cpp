// SPDX-License-Identifier: Apache-2.0
// Executable mappings of real processes, as events tell of them, against /proc/PID/maps.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "executable_copy.h"
#include "mapping_record.h"
#include "mappings/live_mappings.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::build_id_of;
using test::MappingRecord;

constexpr const char* kTrue = "/usr/bin/true";
constexpr const char* kSleep = "/usr/bin/sleep";

// Begin, end, offset, path: neighbours that continue one another are one, as the kernel may hold
// them as one or as two.
using Range = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::string>;

void append(std::vector<Range>& ranges, Range range) {
  auto& [begin, end, offset, path] = range;
  if (!ranges.empty()) {
    auto& [last_begin, last_end, last_offset, last_path] = ranges.back();
    const bool goes_on = path.empty() || last_offset + (last_end - last_begin) == offset;
    if (last_end == begin && last_path == path && goes_on) {
      last_end = end;
      return;
    }
  }
  ranges.push_back(std::move(range));
}

std::vector<Range> ranges_of(std::span<const Mapping> mappings) {
  std::vector<Range> ranges;
  for (const Mapping& mapping : mappings) {
    const bool file = mapping.file->kind == MappedFile::Kind::File;
    append(ranges, {mapping.begin, mapping.end, file ? mapping.offset : 0,
                    mapping.file->path + (mapping.file->deleted ? " (deleted)" : "")});
  }
  return ranges;
}

std::vector<Range> ranges_in_proc(std::uint32_t tgid) {
  std::vector<Range> ranges;
  const auto process = ProcProcessReader().read(tgid);
  if (!process || !*process) return ranges;
  for (const MapsLine& line : (*process)->maps) {
    const bool anonymous = !line.inode.known() && line.path.starts_with("[anon");
    append(ranges, {line.begin, line.end, line.inode.known() ? line.offset : 0,
                    anonymous ? std::string() : line.path});
  }
  return ranges;
}

// A child of this process, killed and waited for at the end.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  static Child run(const std::string& path, const char* argument) {
    pid_t pid = -1;
    char* const argv[] = {const_cast<char*>(path.c_str()), const_cast<char*>(argument), nullptr};
    EXPECT_EQ(::posix_spawn(&pid, path.c_str(), nullptr, nullptr, argv, environ), 0) << path;
    return Child(pid);
  }
  Child(const Child&) = delete;
  ~Child() { stop(); }

  [[nodiscard]] std::uint32_t tgid() const { return static_cast<std::uint32_t>(pid_); }
  void wait() { ::waitpid(std::exchange(pid_, -1), nullptr, 0); }
  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }

  // Until ld.so has done its work and the program sleeps.
  void settle() const {
    for (int i = 0; i < 500; ++i) {
      const auto before = ranges_in_proc(tgid());
      std::this_thread::sleep_for(10ms);
      if (before.size() >= 4 && before == ranges_in_proc(tgid())) return;
    }
  }

 private:
  pid_t pid_;
};

class Mappings : public ::testing::Test {
 protected:
  void SetUp() override { open({}); }

  void open(const LiveMappings::Options& options) {
    live_.reset();
    record_ = {};
    auto live = LiveMappings::open(record_, opener_, reader_, clock_, options);
    if (!live && live.error().kind() == ErrorKind::Permission)
      GTEST_SKIP() << live.error().message();
    ASSERT_TRUE(live) << live.error().message();
    live_ = std::move(*live);
  }
  void drain() {
    const auto status = live_->drain();
    EXPECT_TRUE(status) << status.error().message();
  }
  ProcessMappings& state() { return live_->processes(); }

  // The object that is mapped from this path in the process, if any.
  const MappedFile* file_at(std::uint32_t tgid, const std::string& path) {
    for (const Mapping& mapping : state().mappings_of(tgid)) {
      if (mapping.file->path == path) return mapping.file.get();
    }
    return nullptr;
  }
  const MappingRecord::Object* object_at(std::uint32_t tgid, const std::string& path) {
    const MappedFile* file = file_at(tgid, path);
    return file == nullptr || !file->object ? nullptr : &record_.objects[file->object->id];
  }

  SystemClock clock_;
  LocalFiles files_;
  ProcFileOpener opener_{files_};
  ProcProcessReader reader_;
  MappingRecord record_;
  std::unique_ptr<LiveMappings> live_;
};

TEST_F(Mappings, RunningProcessesAreAsInProc) {
  auto processes = ProcProcessReader().processes();
  ASSERT_TRUE(processes);
  std::shuffle(processes->begin(), processes->end(), std::mt19937(std::random_device{}()));
  int compared = 0;
  for (const std::uint32_t tgid : *processes) {
    const auto before = ranges_in_proc(tgid);
    drain();
    const auto ours = ranges_of(state().mappings_of(tgid));
    if (before.empty() || before != ranges_in_proc(tgid)) continue;  // it changes right now
    EXPECT_EQ(ours, before) << tgid;
    EXPECT_EQ(ranges_of(record_.images[tgid].back().mappings), before) << tgid;
    if (++compared == 20) break;
  }
  EXPECT_GE(compared, 5);
  // Some sandboxes guard their first process even from root.
  const auto unreadable = std::count_if(processes->begin(), processes->end(), [](auto tgid) {
    return !std::ifstream("/proc/" + std::to_string(tgid) + "/maps") &&
           ::kill(static_cast<pid_t>(tgid), 0) == 0;
  });
  EXPECT_EQ(state().counts().processes_unreadable, static_cast<std::uint64_t>(unreadable));
}

TEST_F(Mappings, OfShortLivedProcessesAllAreSeenWithTheirBuildIds) {
  constexpr int kProcesses = 1600;
  const auto losses = live_->events().counts().lost;
  std::vector<std::uint32_t> tgids;
  for (int i = 0; i < kProcesses; ++i) {
    Child child = Child::run(kTrue, nullptr);
    tgids.push_back(child.tgid());
    child.wait();
    if (i % 100 == 99) drain();
  }
  drain();
  EXPECT_EQ(live_->events().counts().lost, losses);
  EXPECT_EQ(live_->events().counts().malformed, 0U);
  std::set<std::vector<std::string>> contents;
  for (const std::uint32_t tgid : tgids) {
    ASSERT_TRUE(record_.images.contains(tgid));
    const auto& image = record_.images[tgid].back();
    EXPECT_TRUE(image.ended);
    std::vector<std::string> paths;
    for (const Mapping& mapping : image.mappings) {
      paths.push_back(mapping.file->path);
      if (mapping.file->kind != MappedFile::Kind::File) continue;
      ASSERT_NE(mapping.file->object, nullptr);
      EXPECT_EQ(mapping.file->object->build_id, build_id_of(mapping.file->path));
    }
    std::sort(paths.begin(), paths.end());
    contents.insert(paths);
  }
  ASSERT_EQ(contents.size(), 1U);  // all alike
  // Itself, its loader, libc, the vDSO.
  EXPECT_EQ(contents.begin()->size(), 4U);
  EXPECT_TRUE(std::find(contents.begin()->begin(), contents.begin()->end(), kTrue) !=
              contents.begin()->end());
}

TEST_F(Mappings, EndedProcessesAreFoundUntilTheyAreForgotten) {
  const auto generation = state().begin_generation();
  Child child = Child::run(kTrue, nullptr);
  const std::uint32_t tgid = child.tgid();
  child.wait();
  const MonotonicTime end = clock_.now();
  drain();
  const Mapping mapping = record_.images[tgid].back().mappings.front();
  const auto location = state().find(tgid, end, mapping.begin + 16);
  ASSERT_TRUE(location);
  EXPECT_EQ(location->file_offset, mapping.offset + 16);
  state().forget_ended(generation - 1);
  EXPECT_TRUE(state().find(tgid, end, mapping.begin));
  state().forget_ended(generation);
  EXPECT_FALSE(state().find(tgid, end, mapping.begin));
}

// Has no answer in time the first time, as on a host that starts.
class LateReader final : public ProcessReader {
 public:
  Result<std::vector<std::uint32_t>> processes() override {
    if (!std::exchange(asked_, true)) return Error("open '/proc': no answer in time");
    return reader_.processes();
  }
  Result<std::optional<Process>> read(std::uint32_t tgid) override { return reader_.read(tgid); }
  std::optional<std::uint32_t> user_of(std::uint32_t tgid) override {
    return reader_.user_of(tgid);
  }

 private:
  ProcProcessReader reader_;
  bool asked_ = false;
};

TEST_F(Mappings, WhatCannotBeReadAtTheStartIsReadLater) {
  LateReader late;
  LiveMappings::Options options;
  options.min_scan_interval = 100ms;
  auto live = LiveMappings::open(record_, opener_, late, clock_, options);
  ASSERT_TRUE(live) << live.error().message();
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_TRUE((*live)->processes().mappings_of(self).empty());
  std::this_thread::sleep_for(150ms);
  ASSERT_TRUE((*live)->drain());
  EXPECT_EQ(ranges_of((*live)->processes().mappings_of(self)), ranges_in_proc(self));
}

TEST_F(Mappings, LibrariesThatAreLoadedLater) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(file_at(self, OFFCPUD_MAPPED_MODULE), nullptr);
  void* module = ::dlopen(OFFCPUD_MAPPED_MODULE, RTLD_NOW);
  ASSERT_NE(module, nullptr) << ::dlerror();
  drain();
  const void* function = ::dlsym(module, "offcpud_mapped_module");
  const auto location = state().find(self, clock_.now(), reinterpret_cast<std::uint64_t>(function));
  ASSERT_TRUE(location);
  EXPECT_EQ(location->mapping->file->path, OFFCPUD_MAPPED_MODULE);
  EXPECT_EQ(location->mapping->file->object->build_id, build_id_of(OFFCPUD_MAPPED_MODULE));
  EXPECT_TRUE(object_at(self, OFFCPUD_MAPPED_MODULE)->opened);
  EXPECT_EQ(ranges_of(state().mappings_of(self)), ranges_in_proc(self));
  ::dlclose(module);
}

TEST_F(Mappings, ForkSharesAndExecReplaces) {
  int gate[2];
  ASSERT_EQ(::pipe2(gate, O_CLOEXEC), 0);
  Child child(::fork());
  if (child.tgid() == 0) {
    char byte = 0;
    (void)!::read(gate[0], &byte, 1);
    ::execl(kSleep, "sleep", "100", nullptr);
    ::_exit(1);
  }
  drain();
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(ranges_of(state().mappings_of(child.tgid())), ranges_of(state().mappings_of(self)));
  EXPECT_EQ(state().mappings_of(child.tgid()).data(), state().mappings_of(self).data());

  const Mapping before = record_.images[child.tgid()].back().mappings.front();
  const MonotonicTime then = clock_.now();
  ASSERT_EQ(::write(gate[1], "x", 1), 1);
  ::close(gate[0]);
  ::close(gate[1]);
  for (int i = 0; i < 100 && file_at(child.tgid(), kSleep) == nullptr; ++i) {
    std::this_thread::sleep_for(20ms);
    drain();
  }
  child.settle();
  drain();
  EXPECT_EQ(ranges_of(state().mappings_of(child.tgid())), ranges_in_proc(child.tgid()));
  ASSERT_EQ(record_.images[child.tgid()].size(), 2U);
  EXPECT_TRUE(record_.images[child.tgid()].front().ended);
  // An address that was sampled before the exec still means what it meant.
  const auto location = state().find(child.tgid(), then, before.begin);
  ASSERT_TRUE(location);
  EXPECT_EQ(location->mapping->file->path, before.file->path);
}

TEST_F(Mappings, DeletedAndNamelessProgramsAreOpenedAllTheSame) {
  const TempTree tree;
  const std::string path = tree.root() / "deleted";
  test::write_executable(path, test::with_build_id(kSleep, "deleted program"));
  const BuildId id = build_id_of(path);
  Child child = Child::run(path, "100");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  child.settle();
  drain();
  ASSERT_NE(object_at(child.tgid(), path), nullptr);
  EXPECT_TRUE(object_at(child.tgid(), path)->opened);
  EXPECT_EQ(object_at(child.tgid(), path)->build_id, id);

  const std::string image = test::with_build_id(kSleep, "memory program");
  const UniqueFd memory(::memfd_create("program", MFD_CLOEXEC));  // open until the exec is done
  ASSERT_EQ(::write(memory.get(), image.data(), image.size()), std::ssize(image));
  Child nameless = Child::run("/proc/self/fd/" + std::to_string(memory.get()), "100");
  nameless.settle();
  drain();
  const auto* object = object_at(nameless.tgid(), "/memfd:program");
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(object->opened);
  EXPECT_EQ(object->build_id, read_build_id(memory.get()));
  EXPECT_TRUE(file_at(nameless.tgid(), "/memfd:program")->deleted);
}

TEST_F(Mappings, FilesWithoutBuildIdAreKnownByInode) {
  const TempTree tree;
  const std::string path = tree.root() / "plain";
  test::write_executable(path, test::with_build_id(kSleep, ""));
  Child child = Child::run(path, "100");
  child.settle();
  drain();
  ASSERT_NE(file_at(child.tgid(), path), nullptr);
  EXPECT_FALSE(file_at(child.tgid(), path)->object->build_id.known());
  EXPECT_EQ(file_at(child.tgid(), path)->object->inode.inode, tree.inode("plain"));
  EXPECT_TRUE(object_at(child.tgid(), path)->opened);
  EXPECT_EQ(ranges_of(state().mappings_of(child.tgid())), ranges_in_proc(child.tgid()));
}

TEST_F(Mappings, FilesOfProcessesThatAreGoneAreFoundByPathAndVerified) {
  const TempTree tree;
  const std::string path = tree.root() / "gone";
  test::write_executable(path, test::with_build_id(kTrue, "still there"));
  Child::run(path, nullptr).wait();
  const std::string replaced = tree.root() / "replaced";
  test::write_executable(replaced, test::with_build_id(kTrue, "before"));
  Child::run(replaced, nullptr).wait();
  ASSERT_EQ(::unlink(replaced.c_str()), 0);
  test::write_executable(replaced, test::with_build_id(kTrue, "after"));
  drain();
  std::map<std::string, bool> opened;
  for (const auto& [id, object] : record_.objects) opened[object.path] = object.opened;
  EXPECT_TRUE(opened.at(path));
  EXPECT_FALSE(opened.at(replaced));
}

TEST_F(Mappings, CodeThatIsMadeAtRunTimeIsAnonymous) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  constexpr std::size_t kSize = 12288;
  void* code = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(code) + 4096, 4096, PROT_READ | PROT_EXEC), 0);
  drain();
  const auto address = reinterpret_cast<std::uint64_t>(code);
  const auto location = state().find(self, clock_.now(), address + 4100);
  ASSERT_TRUE(location);
  EXPECT_EQ(location->mapping->file->kind, MappedFile::Kind::Anonymous);
  EXPECT_FALSE(state().find(self, clock_.now(), address));
  EXPECT_EQ(ranges_of(state().mappings_of(self)), ranges_in_proc(self));
  ::munmap(code, kSize);
}

TEST_F(Mappings, ThreadsEndTheirProcessOnlyAllTogether) {
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  Child child(::fork());
  if (child.tgid() == 0) {
    std::thread([&] {
      std::this_thread::sleep_for(50ms);  // the first thread has ended by then
      (void)!::write(report[1], "x", 1);
      ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // this thread alone
  }
  char byte = 0;
  ASSERT_EQ(::read(report[0], &byte, 1), 1);
  drain();
  EXPECT_FALSE(state().mappings_of(child.tgid()).empty());
  // Found like this by a scan, too.
  open({});
  EXPECT_FALSE(state().mappings_of(child.tgid()).empty());
  const std::uint32_t tgid = child.tgid();
  child.stop();
  drain();
  EXPECT_TRUE(state().mappings_of(tgid).empty());
  ::close(report[0]);
  ::close(report[1]);
}

TEST_F(Mappings, AfterLostEventsProcIsReadAgain) {
  LiveMappings::Options options;
  options.events.ring_bytes = 4096;
  options.min_scan_interval = 0ms;
  open(options);
  Child ends = Child::run(kSleep, "100");
  ends.settle();
  drain();
  const std::uint32_t ended = ends.tgid();
  const auto scans = state().counts().scans;
  for (int i = 0; i < 100; ++i) Child::run(kTrue, nullptr).wait();
  ends.stop();
  Child stays = Child::run(kSleep, "100");
  stays.settle();
  drain();
  EXPECT_GT(live_->events().counts().lost, 0U);
  EXPECT_GT(state().counts().scans, scans);
  EXPECT_EQ(ranges_of(state().mappings_of(stays.tgid())), ranges_in_proc(stays.tgid()));
  EXPECT_EQ(ranges_of(record_.images[stays.tgid()].back().mappings), ranges_in_proc(stays.tgid()));
  EXPECT_TRUE(state().mappings_of(ended).empty());
  EXPECT_FALSE(state().needs_scan());
}

// CPU 0 stands for those that were online; the child's, another one, comes later.
TEST_F(Mappings, WhatRunsOnANewCpuIsReadFromProc) {
  cpu_set_t others{}, all{};
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  others = all;
  CPU_CLR(0, &others);
  if (CPU_COUNT(&others) == 0) GTEST_SKIP() << "there is one CPU";
  TempTree tree{{"online", "0\n"}};
  LiveMappings::Options options;
  options.events.online_cpus = tree.root() / "online";
  options.min_scan_interval = 0ms;
  options.new_cpus_interval = 0ms;
  open(options);
  ASSERT_EQ(::sched_setaffinity(0, sizeof others, &others), 0);
  Child child = Child::run(kSleep, "100");
  child.settle();
  ASSERT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
  drain();
  EXPECT_TRUE(state().mappings_of(child.tgid()).empty()) << "its CPU has a ring";
  tree.put({{"online", "0-1\n"}});
  drain();
  EXPECT_EQ(ranges_of(state().mappings_of(child.tgid())), ranges_in_proc(child.tgid()));
}

}  // namespace
}  // namespace offcpud
