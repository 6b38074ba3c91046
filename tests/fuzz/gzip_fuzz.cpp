// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"
#include "snapshot/gzip.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  constexpr std::size_t kLimit = 4096;
  if (const auto plain = gunzip(input, kLimit)) {
    require(plain->size() <= kLimit, "no more comes out than is allowed");
  }
  const auto packed = gzip(input);
  require(static_cast<bool>(packed), "any bytes are compressed");
  const auto again = gunzip(*packed, input.size());
  require(again && *again == input, "and come back");
  if (!input.empty()) require(!gunzip(*packed, input.size() - 1), "the limit is the limit");
  require(!gunzip(*packed + "x", input.size()), "nothing may follow");
}

std::vector<std::string> seeds() {
  return {"", "text", *gzip("text"), *gzip(std::string(1 << 20, 'a')), *gzip("a") + *gzip("b")};
}

}  // namespace offcpud::fuzz
