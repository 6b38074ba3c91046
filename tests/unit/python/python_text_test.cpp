// SPDX-License-Identifier: Apache-2.0
#include "python/python_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpud {
namespace {

std::string characters(const std::u32string& text) {
  return python_characters(std::as_bytes(std::span(text)), 4);
}

TEST(PythonText, CharactersBecomeUtf8) {
  EXPECT_EQ(characters(U"na\u00efve \u20ac \U0001f40d"), "na\u00efve \u20ac \U0001f40d");
  const std::u16string wide = u"\u00e9t\u00e9\u4e2d";
  EXPECT_EQ(python_characters(std::as_bytes(std::span(wide)), 2), "\u00e9t\u00e9\u4e2d");
  const std::string latin1 = "\xe9t\xe9";
  EXPECT_EQ(python_characters(std::as_bytes(std::span(latin1)), 1), "\u00e9t\u00e9");
}

TEST(PythonText, WhatIsNoCharacterIsReplaced) {
  EXPECT_EQ(characters(std::u32string{U'a', 0xd800, 0x110000, 0xffffffff}), "a\ufffd\ufffd\ufffd");
  const std::u16string odd = u"a\u0100";
  EXPECT_EQ(python_characters(std::as_bytes(std::span(odd)).first(3), 2), "a");  // half a character
}

TEST(PythonText, AFunctionHasTheLastPartsOfItsPath) {
  EXPECT_EQ(python_function_name("Shop.pay", "/srv/app/shop/till.py"), "Shop.pay (shop/till.py)");
  EXPECT_EQ(python_function_name("main", "app.py"), "main (app.py)");
  EXPECT_EQ(python_function_name("main", "./app.py"), "main (./app.py)");
  EXPECT_EQ(python_function_name("main", "/app.py"), "main (app.py)");
  EXPECT_EQ(python_function_name("<module>", "<string>"), "<module> (<string>)");
  EXPECT_EQ(python_function_name("main", ""), "main");
}

TEST(PythonText, ControlCharactersAreShown) {
  EXPECT_EQ(python_function_name("a\nb\x1b[1m", "/x/\ty.py"), "a?b?[1m (x/?y.py)");
}

TEST(PythonText, OnlyCompactStringsHaveTheirCharactersBehindTheirHead) {
  const PythonLayout& layout = *find_python_layout(12);
  std::vector<std::byte> object(40);
  const auto state = [&object](unsigned value) { object[32] = static_cast<std::byte>(value); };
  object[16] = std::byte{3};
  state(1U << 2U | 1U << 5U | 1U << 6U);
  const auto text = PythonText::read(layout, object);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->length, 3);
  EXPECT_EQ(text->width, 1);
  EXPECT_EQ(text->offset, 40);
  state(4U << 2U | 1U << 5U);
  EXPECT_EQ(PythonText::read(layout, object)->offset, 56);
  state(1U << 2U | 1U << 6U);  // not compact
  EXPECT_FALSE(PythonText::read(layout, object));
  state(3U << 2U | 1U << 5U);  // no width
  EXPECT_FALSE(PythonText::read(layout, object));
  state(2U << 2U | 1U << 5U | 1U << 6U);  // ASCII of two bytes
  EXPECT_FALSE(PythonText::read(layout, object));
  object.resize(35);
  EXPECT_FALSE(PythonText::read(layout, object));
}

}  // namespace
}  // namespace offcpud
