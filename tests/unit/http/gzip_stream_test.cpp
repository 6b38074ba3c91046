// SPDX-License-Identifier: Apache-2.0
#include "http/gzip_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "snapshot/gzip.h"
#include "unit/metrics/view_fixture.h"

namespace offcpud {
namespace {

constexpr std::size_t kLimit = std::size_t{64} << 20;

// In pieces of changing sizes.
BodyStream stream_of(const std::string& text) {
  return [text, done = std::size_t{0}](std::span<char> buffer) mutable {
    const std::size_t n = std::min({buffer.size(), text.size() - done, done % 7'919 + 1});
    text.copy(buffer.data(), n, done);
    done += n;
    return n;
  };
}

std::string some_text(std::size_t size) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same in every run
  std::string text;
  while (text.size() < size) text += std::to_string(random() % 1'000) + " offcpud\n";
  return text;
}

TEST(GzipStream, UnpacksToWhatWentIn) {
  for (const std::size_t size : {0U, 1U, 100U, 300'000U}) {
    const std::string text = size == 0 ? "" : some_text(size);
    for (const std::size_t buffer : {1U, 13U, 65'536U}) {
      if (buffer == 1 && size > 1'000) continue;
      const std::string packed = test::read_all(gzip_stream(stream_of(text)), buffer);
      const auto unpacked = gunzip(packed, kLimit);
      ASSERT_TRUE(unpacked) << unpacked.error().message();
      EXPECT_EQ(*unpacked, text);
    }
  }
}

TEST(GzipStream, IsSmallerAndEndsForEver) {
  const std::string text = some_text(300'000);
  const BodyStream stream = gzip_stream(stream_of(text));
  EXPECT_LT(test::read_all(stream).size(), text.size() / 2);
  std::array<char, 8> buffer{};
  EXPECT_EQ(stream(buffer), 0U);
}

TEST(GzipStream, AFailureOfTheBodyIsNotTakenForItsEnd) {
  const BodyStream stream =
      gzip_stream([](std::span<char>) -> std::size_t { throw std::runtime_error("no"); });
  std::array<char, 8> buffer{};
  EXPECT_THROW((void)stream(buffer), std::runtime_error);
}

}  // namespace
}  // namespace offcpud
