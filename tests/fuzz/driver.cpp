// SPDX-License-Identifier: Apache-2.0
// Between libFuzzer and the targets. `TARGET --write-seeds=FOLDER` writes the seeds and ends.
#include <sanitizer/allocator_interface.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "fuzz.h"

namespace offcpud::fuzz {
namespace {

// What one input, which has kilobytes, may make a parser hold at once: as much as the whole daemon
// is to take under any attack.
constexpr std::ptrdiff_t kMostHeap = std::ptrdiff_t{300} << 20;

std::atomic<bool> testing = false;
std::atomic<std::ptrdiff_t> held = 0;  // by the input that is tested
std::atomic<std::ptrdiff_t> most_held = 0;

void on_malloc(const volatile void* /*block*/, std::size_t size) {
  if (!testing.load(std::memory_order_relaxed)) return;
  const std::ptrdiff_t now = held += static_cast<std::ptrdiff_t>(size);
  if (now > most_held) most_held = now;
  if (now > kMostHeap) {
    testing = false;
    require(false, "one input takes no more than 300 MiB of heap");
  }
}

void on_free(const volatile void* block) {
  if (!testing.load(std::memory_order_relaxed) || block == nullptr) return;
  held -=
      static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(const_cast<const void*>(block)));
}

// tests/fuzz/run reads it.
void tell_most_held() {
  std::fprintf(stderr, "most heap of one input: %td\n", most_held.load());
}

int write_seeds(const std::string& folder) {
  std::size_t number = 0;
  for (const std::string& seed : seeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    if (!(file << seed << std::flush)) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

std::vector<std::string> seeds_of_versions(int versions) {
  std::vector<std::string> seeds;
  for (int version = 0; version < versions; ++version) {
    std::string seed(1, static_cast<char>(version));
    seeds.push_back(seed);
    for (int place = 0; place < 12; ++place) {
      const std::string write = {static_cast<char>(place | 0x80), 8};
      seeds.push_back(seed + write + std::string("\x05\0\0\0\x10\0\0\0", 8));
    }
  }
  return seeds;
}

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "NOT KEPT: %s\n", promise);
  std::abort();
}

}  // namespace offcpud::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--write-seeds=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (!argument.starts_with(kOption)) continue;
    std::exit(offcpud::fuzz::write_seeds(std::string(argument.substr(kOption.size()))));
  }
  __sanitizer_install_malloc_and_free_hooks(offcpud::fuzz::on_malloc, offcpud::fuzz::on_free);
  std::atexit(offcpud::fuzz::tell_most_held);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace offcpud::fuzz;
  held = 0;
  testing = true;
  test({reinterpret_cast<const char*>(data), size});
  testing = false;
  return 0;
}
