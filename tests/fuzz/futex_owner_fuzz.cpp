// SPDX-License-Identifier: Apache-2.0
// The memory of a lock, which belongs to any user's program.
#include <algorithm>
#include <cstring>

#include "fuzz.h"
#include "holders/futex_owner.h"

namespace offcpud::fuzz {

// First the waiter's registers, then what is around its futex, then its robust list.
void test(std::string_view input) {
  offcpud_lock lock{};
  std::memcpy(&lock, input.data(), std::min(input.size(), sizeof(lock)));
  input.remove_prefix(std::min(input.size(), sizeof(lock)));
  const auto bytes = std::as_bytes(std::span(input));
  const auto around = bytes.first(std::min(bytes.size(), kFutexBytes));
  const auto owner = futex_owner(lock, around, bytes.subspan(around.size()));
  if (!owner) return;
  require(may_have_owner(lock), "whoever has an owner may have one");
  require(owner->inner_tid > 0 && owner->inner_tid < (1U << 30), "the owner is a thread");
  require(around.size() >= kFutexBefore + sizeof(std::uint32_t), "the word was read");
}

std::vector<std::string> seeds() {
  offcpud_lock lock{.address = 0x1000, .robust_list = 0x2000, .op = 0x80, .value = 2};
  lock.kind = OFFCPUD_LOCK_FUTEX;
  std::vector<std::string> all;
  for (const std::uint32_t value : {2U, 3U, 0x80000007U}) {
    lock.value = value;
    std::string seed(reinterpret_cast<const char*>(&lock), sizeof(lock));
    const std::uint32_t words[] = {3, 0, 3, 3, value, 0, 7, 1, 0, 0, 7, 0};
    seed.append(reinterpret_cast<const char*>(words), sizeof(words));
    const std::uint64_t robust[] = {0, 0, lock.address};
    all.push_back(seed.append(reinterpret_cast<const char*>(robust), sizeof(robust)));
  }
  return all;
}

}  // namespace offcpud::fuzz
