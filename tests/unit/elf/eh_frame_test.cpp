// SPDX-License-Identifier: Apache-2.0
#include "elf/eh_frame.h"

#include <gmock/gmock.h>

#include <vector>

#include "unit/elf/cfi_bytes.h"

namespace offcpud {
namespace {

std::vector<Fde> all(const EhFrameSection& section) {
  std::vector<Fde> fdes;
  FdeWalk walk(section);
  while (auto fde = walk.next()) fdes.push_back(*fde);
  return fdes;
}

MATCHER_P2(IsFunction, begin, end, "") {
  return arg.begin == static_cast<std::uint64_t>(begin) &&
         arg.end == static_cast<std::uint64_t>(end);
}

TEST(ByteReader, ReadsLeb128OfAnyLength) {
  const std::vector<std::uint8_t> bytes = {0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f, 0x80};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.take_uleb(), 624485U);  // the example of DWARF 5, appendix C
  EXPECT_EQ(reader.take_sleb(), -1);
  EXPECT_EQ(reader.take_sleb(), -128);
  EXPECT_TRUE(reader.ok());
  (void)reader.take_uleb();  // no last byte
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, IgnoresBitsThatDoNotFit) {
  std::vector<std::uint8_t> bytes(20, 0xff);
  bytes.push_back(0x01);
  EXPECT_EQ(ByteReader(bytes).take_uleb(), UINT64_MAX);
  EXPECT_EQ(ByteReader(bytes).take_sleb(), -1);
}

// Read for each of a million functions, a number of a megabyte would take hours.
TEST(ByteReader, EndsANumberThatGoesOnForEver) {
  const std::vector<std::uint8_t> bytes(1000, 0x80);
  for (const bool is_signed : {false, true}) {
    ByteReader reader(bytes);
    if (is_signed) {
      (void)reader.take_sleb();
    } else {
      (void)reader.take_uleb();
    }
    EXPECT_FALSE(reader.ok());
    EXPECT_LT(reader.position(), 40U);
  }
}

TEST(FdeWalk, ReadsAFunctionAgain) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0x1000, 16);
  cfi.fde(cie, 0x2000, 32, {0x41, 0x0e, 16});
  FdeWalk walk({cfi.bytes()});
  std::vector<Fde> fdes;
  while (const auto fde = walk.next()) fdes.push_back(*fde);
  ASSERT_EQ(fdes.size(), 2U);
  for (const Fde& fde : fdes) {
    const auto again = walk.at(fde.offset);
    ASSERT_TRUE(again);
    EXPECT_THAT(*again, IsFunction(fde.begin, fde.end));
    EXPECT_EQ(again->instructions.data(), fde.instructions.data());
    EXPECT_EQ(again->cie_offset, fde.cie_offset);
  }
}

TEST(ByteReader, StaysWithinItsBytes) {
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.take<std::uint16_t>(), 0x0201);
  EXPECT_EQ(reader.take<std::uint32_t>(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.take_bytes(UINT64_MAX).empty());
}

TEST(EncodedPointer, MayBeRelativeToItself) {
  const std::vector<std::uint8_t> bytes = {0xfc, 0xff, 0xff, 0xff, 0xfc, 0xff, 0xff, 0xff};
  ByteReader reader(bytes);
  EXPECT_EQ(take_encoded(reader, 0x1b, 0x1000), 0xffcU);  // pcrel, sdata4
  EXPECT_EQ(take_encoded(reader, 0x1b, 0x1000), 0x1000U);
}

TEST(EncodedPointer, RefusesWhatX86DoesNotUse) {
  const std::vector<std::uint8_t> bytes(16, 1);
  for (const int encoding : {0xff, 0x9b, 0x3b, 0x2b, 0x4b, 0x50, 0x05, 0x0f}) {
    ByteReader reader(bytes);
    EXPECT_EQ(take_encoded(reader, static_cast<std::uint8_t>(encoding), 0), std::nullopt)
        << encoding;
  }
}

TEST(FdeWalk, FindsFunctions) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0x2000, 0x10);
  cfi.fde(cie, 0x1000, 0x20);
  EXPECT_THAT(all({cfi.bytes()}),
              ::testing::ElementsAre(IsFunction(0x2000, 0x2010), IsFunction(0x1000, 0x1020)));
}

TEST(FdeWalk, PassesOverFunctionsThatTheLinkerDropped) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0, 0x10);
  cfi.fde(cie, 0x1000, 0);
  cfi.fde(cie, UINT64_MAX - 5, 0x10);
  FdeWalk walk({cfi.bytes()});
  EXPECT_FALSE(walk.next());
  EXPECT_EQ(walk.broken(), 0U);
}

TEST(FdeWalk, GoesOnAfterATerminatorIfTheSectionDoes) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.put<std::uint32_t>(0);
  cfi.fde(cie, 0x1000, 0x20);
  EXPECT_EQ(all({.bytes = cfi.bytes(), .exact_size = true}).size(), 1U);
  EXPECT_EQ(all({.bytes = cfi.bytes(), .exact_size = false}).size(), 0U);
}

TEST(FdeWalk, CountsRecordsWithoutUsableCie) {
  CfiBytes cfi;
  const auto good = cfi.cie();
  const auto old = cfi.cie(CfiBytes::usual(), "eh");
  const auto next_version = cfi.cie(CfiBytes::usual(), "zR", 5);
  const auto endless = cfi.cie(CfiBytes::usual(), "zRRRRRRRRRRRRRRRRRRRRRR");
  for (const auto cie : {old, next_version, endless}) cfi.fde(cie, 0x1000, 0x20);
  const auto function = cfi.fde(good, 0x3000, 0x20);
  cfi.fde(function, 0x1000, 0x20);    // an FDE is no CIE
  cfi.fde(UINT32_MAX, 0x1000, 0x20);  // before the section
  FdeWalk walk({cfi.bytes()});
  EXPECT_THAT(walk.next(), ::testing::Optional(IsFunction(0x3000, 0x3020)));
  EXPECT_FALSE(walk.next());
  EXPECT_EQ(walk.broken(), 5U);
}

TEST(FdeWalk, ReadsAddressesOf32Bits) {
  CfiBytes cfi;
  // A CIE with "zPR": the pointers to the personality routine and of FDEs are absolute.
  for (const auto word : {20U, 0U, 0x52507a01U, 0x087c0100U, 0x02010006U, 0x403U}) cfi.put(word);
  for (const auto word : {16U, 28U, 0x8049000U, 48U, 0U}) cfi.put(word);  // its FDE
  EXPECT_THAT(all({.bytes = cfi.bytes(), .address_size = 4}),
              ::testing::ElementsAre(IsFunction(0x8049000, 0x8049030)));
  EXPECT_THAT(all({.bytes = cfi.bytes()}), ::testing::IsEmpty());
}

TEST(FdeWalk, EndsWhereALengthLeadsOutOfTheSection) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0x1000, 0x20);
  cfi.put<std::uint32_t>(0xffffffff);
  cfi.put<std::uint64_t>(UINT64_MAX - 3);
  FdeWalk walk({cfi.bytes()});
  EXPECT_TRUE(walk.next());
  EXPECT_FALSE(walk.next());
  EXPECT_EQ(walk.broken(), 1U);
}

}  // namespace
}  // namespace offcpud
