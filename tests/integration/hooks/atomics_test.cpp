// SPDX-License-Identifier: Apache-2.0
// What the names of bpf/atomic.bpf.h compile to, with the compiler in use, and that it does it.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace offcpud {
namespace {

struct CloseObject {
  void operator()(bpf_object* object) const noexcept { bpf_object__close(object); }
};

struct Words {
  std::uint64_t word = 0, found = 0;
  std::uint32_t half = 0, unused = 0;
};

class Atomics : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "loading BPF programs takes root";
    object_.reset(bpf_object__open(GetParam()));
    ASSERT_TRUE(object_);
    const int error = bpf_object__load(object_.get());
    ASSERT_EQ(error, 0) << std::strerror(-error);
  }

  // The operations (BPF_ADD, BPF_FETCH ...) of the atomic instructions of a program.
  [[nodiscard]] std::vector<int> operations(const char* name) const {
    const bpf_program* program = bpf_object__find_program_by_name(object_.get(), name);
    if (!program) return {-1};
    std::vector<int> found;
    const bpf_insn* instructions = bpf_program__insns(program);
    for (std::size_t i = 0; i < bpf_program__insn_cnt(program); ++i) {
      const int mode = BPF_CLASS(instructions[i].code) | BPF_MODE(instructions[i].code);
      if (mode == (BPF_STX | BPF_ATOMIC)) found.push_back(instructions[i].imm);
    }
    return found;
  }

  Words run(const char* name, Words before) {
    bpf_program* program = bpf_object__find_program_by_name(object_.get(), name);
    bpf_map* variables = nullptr;
    for (bpf_map* map = nullptr; (map = bpf_object__next_map(object_.get(), map));) {
      if (std::string(bpf_map__name(map)).ends_with(".bss")) variables = map;
    }
    const std::uint32_t first = 0;
    EXPECT_EQ(bpf_map__value_size(variables), 20U);
    EXPECT_EQ(bpf_map_update_elem(bpf_map__fd(variables), &first, &before, BPF_ANY), 0);
    bpf_test_run_opts options{.sz = sizeof(options)};
    EXPECT_EQ(bpf_prog_test_run_opts(bpf_program__fd(program), &options), 0);
    Words after;
    EXPECT_EQ(bpf_map_lookup_elem(bpf_map__fd(variables), &first, &after), 0);
    return after;
  }

  [[nodiscard]] static bool is_weak() { return std::string(GetParam()).ends_with("weak.o"); }
  std::unique_ptr<bpf_object, CloseObject> object_;
};

using Operations = std::vector<int>;

TEST_P(Atomics, AdditionsWithoutAResultFetchNothing) {
  EXPECT_EQ(operations("op_atomic_add"), Operations{BPF_ADD});
  EXPECT_EQ(run("op_atomic_add", {.word = 40}).word, 42U);
}

TEST_P(Atomics, AdditionsGiveWhatWasThere) {
  EXPECT_EQ(operations("op_fetch_add"), Operations{BPF_ADD | BPF_FETCH});
  const Words after = run("op_fetch_add", {.word = 40});
  EXPECT_EQ(after.word, 42U);
  EXPECT_EQ(after.found, 40U);
  EXPECT_EQ(operations("op_fetch_add_32"), Operations{BPF_ADD | BPF_FETCH});
  const Words down = run("op_fetch_add_32", {.half = 1});
  EXPECT_EQ(down.half, 0U);
  EXPECT_EQ(down.found, 1U);
}

TEST_P(Atomics, ExchangesGiveWhatWasThere) {
  EXPECT_EQ(operations("op_xchg"), Operations{BPF_XCHG});
  const Words after = run("op_xchg", {.word = 40});
  EXPECT_EQ(after.word, 7U);
  EXPECT_EQ(after.found, 40U);
  EXPECT_EQ(operations("op_cmpxchg"), Operations{BPF_CMPXCHG});
  const Words exchanged = run("op_cmpxchg", {.word = 5});
  EXPECT_EQ(exchanged.word, 9U);
  EXPECT_EQ(exchanged.found, 5U);
  const Words refused = run("op_cmpxchg", {.word = 6});
  EXPECT_EQ(refused.word, 6U);
  EXPECT_EQ(refused.found, 6U);
}

TEST_P(Atomics, OrderTakesAnInstructionWhereTheMachineKeepsNone) {
  const Operations barrier = is_weak() ? Operations{BPF_XCHG} : Operations{};
  EXPECT_EQ(operations("op_store_release"), barrier);
  EXPECT_EQ(operations("op_load_acquire"), barrier);
  EXPECT_EQ(run("op_store_release", {.word = 40}).word, 3U);
  const Words loaded = run("op_load_acquire", {.word = 40});
  EXPECT_EQ(loaded.word, 40U);
  EXPECT_EQ(loaded.found, 40U);
}

std::string machine(const ::testing::TestParamInfo<const char*>& object) {
  return object.index == 0 ? "x86" : "weak";
}

INSTANTIATE_TEST_SUITE_P(Of, Atomics, ::testing::Values(OFFCPUD_ATOMICS_X86, OFFCPUD_ATOMICS_WEAK),
                         machine);

}  // namespace
}  // namespace offcpud
