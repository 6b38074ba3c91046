// SPDX-License-Identifier: Apache-2.0
#include "sampler/python_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/fake_clock.h"
#include "unit/python/fake_python.h"
#include "unit/sampler/fake_stack_source.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_python::FakePython;
using testing_python::kProcess;
using namespace std::chrono_literals;

constexpr std::uint64_t kHostOfPython = FakePython::kStack + 0x180;

// All that is mapped is the library of Python, and a libc above it.
class PythonAddresses final : public AddressLocator {
 public:
  explicit PythonAddresses(const std::string& python) {
    library_->path = "/opt/lib/" + python;
    libc_->path = "/lib/" + libc;
  }
  void follow() override {}
  void forget_ended() override {}
  [[nodiscard]] std::vector<LocatedFrame> locate(std::uint32_t /*tgid*/, std::uint64_t /*when_ns*/,
                                                 std::span<const __u64> addresses) const override {
    std::vector<LocatedFrame> frames;
    for (const std::uint64_t address : addresses) {
      const bool is_python = address >= FakePython::kBase && address < FakePython::kBase + 0x3000;
      frames.push_back({.address = address,
                        .file_offset = is_python ? address - FakePython::kBase : 0,
                        .object = 0,
                        .file = is_python ? library_ : libc_});
    }
    return frames;
  }
  void rename_libc(const std::string& name) { libc_->path = "/lib/" + name; }

 private:
  std::string libc = "libc.so.6";
  std::shared_ptr<MappedFile> library_ = std::make_shared<MappedFile>(),
                              libc_ = std::make_shared<MappedFile>();
};

// A kernel that says since when threads are blocked.
class BlocksOfKernel final : public test::IdleStackSource {
 public:
  Status look_at(std::uint32_t process,
                 const std::function<void(const offcpud_blocked_record&)>& take) override {
    ++asked;
    EXPECT_EQ(process, kProcess);
    for (const auto& [tid, since_ns] : since) {
      offcpud_blocked_record record{};
      record.sample.tid = tid;
      record.sample.since_ns = since_ns;
      take(record);
    }
    return {};
  }
  std::map<std::uint32_t, std::uint64_t> since;
  int asked = 0;
};

struct PythonStacksTest : testing::Test {
  // A blocked thread of the process; `sp` in the stack of FakePython.
  offcpud_blocked_record blocked(std::uint32_t tid, std::uint64_t thread_pointer,
                                 std::uint64_t since_ns = 7) {
    offcpud_blocked_record record{};
    record.sample.tid = record.sample.local_tid = tid;
    record.sample.tgid = record.sample.local_tgid = kProcess;
    record.sample.process_start_ns = 3;
    record.sample.since_ns = since_ns;
    record.sample.flags = OFFCPUD_SAMPLE_STACK_LATER | OFFCPUD_SAMPLE_IN_PROGRESS;
    record.thread_pointer = thread_pointer;
    kernel.since[tid] = since_ns;
    return record;
  }
  // libc, the C function of Python, and its caller.
  static RemoteStack walked() {
    return {.addresses = {0x1000, FakePython::kBase + 0x900, FakePython::kBase + 0x2000},
            .stack_pointers = {FakePython::kStack, FakePython::kStack + 0x100,
                               FakePython::kStack + 0x200},
            .end = OFFCPUD_UNWIND_END_ROOT};
  }
  std::uint64_t thread_in(const std::string& function) {
    return python.add_thread(
        {{.code = python.add_code({.name = function}), .host = kHostOfPython}});
  }
  void read(const offcpud_blocked_record& record, const RemoteStack& stack = walked()) {
    stacks.read({&record, 1}, {&stack, 1}, kernel);
  }
  std::vector<std::string> functions_of(const offcpud_blocked_record& record) {
    std::vector<std::string> functions;
    const auto stack = stacks.find(record.sample);
    if (!stack) return functions;
    for (const InterpretedFrame& frame : stack->frames) functions.push_back(frame.function);
    return functions;
  }
  [[nodiscard]] std::uint64_t refused(PythonRefusal cause) const {
    return processes.refusals()[static_cast<std::size_t>(cause)];
  }

  FakePython python{12};
  FakeClock clock;
  BlocksOfKernel kernel;
  std::vector<std::string> said;
  PythonAddresses addresses{python.file_name()};
  PythonProcesses processes{nullptr, python, clock,
                            [this](const std::string& sentence) { said.push_back(sentence); }};
  PythonStacks stacks{addresses, python, processes,
                      ProcessOwners([](std::uint32_t tgid) { return ShareOwner(tgid); })};
};

TEST_F(PythonStacksTest, AFunctionIsInThePlaceOfTheCFunctionThatRunsIt) {
  const auto record = blocked(41, thread_in("pay"));
  read(record);
  const auto stack = stacks.find(record.sample);
  ASSERT_TRUE(stack);
  EXPECT_THAT(functions_of(record), ElementsAre("pay (shop/till.py)"));
  EXPECT_EQ(stack->frames[0].at, 1);
  EXPECT_NE(stack->id, 0);
  EXPECT_THAT(said, IsEmpty());
}

TEST_F(PythonStacksTest, AStackIsReadOncePerBlock) {
  const auto record = blocked(41, thread_in("pay"));
  read(record);
  stacks.end_walk();
  const auto reads = python.reads;
  read(record);
  EXPECT_EQ(python.reads, reads);
  EXPECT_THAT(functions_of(record), ElementsAre("pay (shop/till.py)"));
  const auto next = blocked(41, thread_in("close"), 8);  // it has run in between
  read(next);
  EXPECT_THAT(functions_of(next), ElementsAre("close (shop/till.py)"));
}

TEST_F(PythonStacksTest, AThreadThatRanMeanwhileHasNoNames) {
  const auto record = blocked(41, thread_in("pay"));
  kernel.since[41] = 9;  // another block by now
  read(record);
  EXPECT_THAT(functions_of(record), IsEmpty());
  EXPECT_EQ(stacks.left_out(), 1);
  kernel.since.erase(41);  // it runs, or is gone
  read(record);
  EXPECT_THAT(functions_of(record), IsEmpty());
  EXPECT_EQ(stacks.left_out(), 2);
}

TEST_F(PythonStacksTest, ProcessesAreLookedAtForAMinute) {
  EXPECT_THAT(stacks.processes_to_look_at(), IsEmpty());
  read(blocked(41, thread_in("pay")));
  EXPECT_THAT(stacks.processes_to_look_at(), ElementsAre(kProcess));
  EXPECT_THAT(stacks.processes_to_look_at(), ElementsAre(kProcess));
  clock.advance(PythonProcesses::kLookedAtFor + 1s);
  EXPECT_THAT(stacks.processes_to_look_at(), IsEmpty());
  read(blocked(42, thread_in("pay")));
  EXPECT_THAT(stacks.processes_to_look_at(), ElementsAre(kProcess));
}

TEST_F(PythonStacksTest, TheEndOfABlockHasTheNamesOfTheBlock) {
  auto record = blocked(41, thread_in("pay"));
  read(record);
  stacks.end_walk();
  record.sample.flags = 0;
  record.sample.user_end = OFFCPUD_UNWIND_END_ROOT;
  EXPECT_THAT(functions_of(record), ElementsAre("pay (shop/till.py)"));
  record.sample.user_end = OFFCPUD_UNWIND_END_READ;  // which frames these are, nobody knows
  EXPECT_THAT(functions_of(record), IsEmpty());
}

TEST_F(PythonStacksTest, BlocksThatTwoWalksHaveNotSeenAreForgotten) {
  const auto record = blocked(41, thread_in("pay"));
  read(record);
  stacks.end_walk();
  stacks.end_walk();
  stacks.end_walk();
  EXPECT_THAT(functions_of(record), IsEmpty());
}

TEST_F(PythonStacksTest, ThreadsInTheSamePlaceShareAStack) {
  const std::uint64_t code = python.add_code({});
  const auto one = blocked(41, python.add_thread({{.code = code, .host = kHostOfPython}}));
  const auto two = blocked(42, python.add_thread({{.code = code, .host = kHostOfPython + 8}}));
  const auto other =
      blocked(43, python.add_thread({{.code = code, .offset = 500, .host = kHostOfPython + 16}}));
  for (const auto& record : {one, two, other}) read(record);
  EXPECT_EQ(stacks.find(one.sample), stacks.find(two.sample));
  EXPECT_EQ(stacks.find(one.sample), stacks.find(other.sample))
      << "without a table no line differs";
  const auto third = blocked(44, thread_in("close"));
  read(third);
  EXPECT_NE(stacks.find(one.sample)->id, stacks.find(third.sample)->id);
}

TEST_F(PythonStacksTest, StacksWithoutPythonAreNotRead) {
  const auto record = blocked(41, thread_in("pay"));
  const RemoteStack stack{
      .addresses = {0x1000, 0x2000}, .stack_pointers = {1, 2}, .end = OFFCPUD_UNWIND_END_ROOT};
  const auto reads = python.reads;
  read(record, stack);
  EXPECT_EQ(python.reads, reads);
  EXPECT_EQ(kernel.asked, 0);
  EXPECT_EQ(stacks.left_out(), 0);
}

TEST_F(PythonStacksTest, ALiarHasNoNamesAndIsCounted) {
  const auto record = blocked(41, thread_in("pay"));
  python.set<std::uint64_t>(python.state() + python.layout().thread_id, 1);
  read(record);
  EXPECT_THAT(functions_of(record), IsEmpty());
  EXPECT_EQ(refused(PythonRefusal::Memory), 1);
  EXPECT_THAT(said, ElementsAre("the functions of Python of thread 41 of process 40 are not shown: "
                                "its memory is not that of a thread of Python"));
}

TEST_F(PythonStacksTest, AProcessIsRefusedOnceAndSaid) {
  python.set<std::uint32_t>(FakePython::kBase + 0x700, 0x030f00f0);
  for (std::uint32_t tid = 41; tid < 44; ++tid) read(blocked(tid, thread_in("pay")));
  EXPECT_EQ(refused(PythonRefusal::Version), 1);
  EXPECT_THAT(said, ElementsAre("the functions of Python of process 40 (libpython3.12.so.1.0) are "
                                "not shown: its version, 3.15, is not known"));
}

TEST_F(PythonStacksTest, MemoryThatDidNotFitIsLookedAtAgainLater) {
  python.set<std::uint32_t>(FakePython::kBase, 0);
  const auto record = blocked(41, thread_in("pay"));
  read(record);
  EXPECT_EQ(refused(PythonRefusal::Memory), 1);
  python.set<std::uint32_t>(FakePython::kBase, 0x464c457f);
  read(blocked(42, thread_in("pay")));
  EXPECT_EQ(refused(PythonRefusal::Memory), 1);
  clock.advance(PythonProcesses::kAgain);
  const auto later = blocked(43, thread_in("pay"));
  read(later);
  EXPECT_THAT(functions_of(later), ElementsAre("pay (shop/till.py)"));
}

TEST_F(PythonStacksTest, MuslIsRefused) {
  addresses.rename_libc("ld-musl-x86_64.so.1");
  read(blocked(41, thread_in("pay")));
  EXPECT_EQ(refused(PythonRefusal::Build), 1);
  EXPECT_THAT(said, ElementsAre(testing::HasSubstr("its C library is musl")));
}

TEST_F(PythonStacksTest, OneProcessHasNoMoreThanItsShare) {
  const std::uint64_t thread = thread_in("pay");
  for (std::uint32_t i = 0; i < PythonStacks::kMostOfProcess + 5; ++i) {
    read(blocked(1'000 + i, thread));
  }
  EXPECT_EQ(stacks.left_out(), 5);
  stacks.end_walk();
  const auto record = blocked(5'000, thread);
  read(record);
  EXPECT_THAT(functions_of(record), ElementsAre("pay (shop/till.py)"));
}

}  // namespace
}  // namespace offcpud
