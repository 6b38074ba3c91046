// SPDX-License-Identifier: Apache-2.0
#include "golang/go_code.h"

#include <gmock/gmock.h>

#include <initializer_list>

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::byte> code(std::initializer_list<int> bytes) {
  std::vector<std::byte> made;
  for (const int byte : bytes) made.push_back(std::byte(byte));
  return made;
}

// Of runtime.allgadd of Go 1.19.8: MOVL 0x90(AX), CX; LEAQ runtime.allglock(SB), AX;
// MOVQ runtime.allgs+8(SB), SI; MOVQ runtime.allgs(SB), BX.
const auto kAdds =
    code({0x8b, 0x88, 0x90, 0,    0,    0,    0x48, 0x8d, 0x05, 0x4a, 0xfb, 0x44, 0x00, 0x48,
          0x8b, 0x35, 0xa6, 0xfb, 0x41, 0x00, 0x48, 0x8b, 0x1d, 0x93, 0xfb, 0x41, 0x00});
// Of runtime.casgstatus: MOVZX 0xbd(DI), DX; MOVB $1, 0xbc(DI); MOVZX 0xbd(DI), DX; INCL DX;
// MOVB DL, 0xbd(DI); MOVZX 0xb0(DI), DX.
const auto kChanges = code({0x0f, 0xb6, 0x97, 0xbd, 0,    0,    0,    0xc6, 0x87, 0xbc, 0,    0,
                            0,    0x01, 0x0f, 0xb6, 0x97, 0xbd, 0,    0,    0,    0xff, 0xc2, 0x88,
                            0x97, 0xbd, 0,    0,    0,    0x0f, 0xb6, 0x97, 0xb0, 0,    0,    0});

TEST(GoCode, KnowsItsVariablesByTheirDistance) {
  EXPECT_THAT(variables_in(kAdds, 0x1000),
              ElementsAre(0x1000 + 13 + 0x44fb4a, 0x1000 + 20 + 0x41fba6, 0x1000 + 27 + 0x41fb93));
}

TEST(GoCode, NamesEachVariableOnce) {
  const auto twice = code({0x48, 0x8b, 0x1d, 7, 0, 0, 0, 0x48, 0x89, 0x0d, 0, 0, 0, 0});
  EXPECT_THAT(variables_in(twice, 0), ElementsAre(14));
}

TEST(GoCode, KnowsVariablesBelowIt) {
  EXPECT_THAT(variables_in(code({0x4c, 0x8d, 0x3d, 0xf0, 0xff, 0xff, 0xff}), 0x100),
              ElementsAre(0x100 + 7 - 16));
}

TEST(GoCode, KnowsTheFieldThatIsReadFirst) {
  EXPECT_EQ(first_field_in(kAdds), 0x90);
  EXPECT_EQ(first_field_in(code({0x8b, 0x48, 0x10, 0x8b, 0x88, 0x98, 0, 0, 0})), 0x98);
  EXPECT_EQ(first_field_in(kChanges), std::nullopt);
}

TEST(GoCode, DoesNotTakeAFieldOfEightBytesForOneOfFour) {
  EXPECT_EQ(first_field_in(code({0x48, 0x8b, 0x88, 0x90, 0, 0, 0})), std::nullopt);
}

TEST(GoCode, KnowsTheByteThatIsReadAndWrittenBack) {
  EXPECT_EQ(counter_in(kChanges), 0xbd);
  EXPECT_EQ(counter_in(kAdds), std::nullopt);
}

TEST(GoCode, DoesNotChooseBetweenTwoSuchBytes) {
  auto two = kChanges;
  for (const std::byte byte : code({0x88, 0x97, 0xb0, 0, 0, 0})) two.push_back(byte);
  EXPECT_EQ(counter_in(two), std::nullopt);
}

TEST(GoCode, StopsWhereTheCodeEnds) {
  for (std::size_t size = 0; size < kAdds.size(); ++size) {
    const std::span<const std::byte> some(kAdds.data(), size);
    EXPECT_LE(variables_in(some, 0).size(), 3);
    EXPECT_EQ(first_field_in(some).has_value(), size >= 6) << size;
  }
  EXPECT_THAT(variables_in({}, 0), IsEmpty());
}

}  // namespace
}  // namespace offcpud
