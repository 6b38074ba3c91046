// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a fuzz target consists of: it defines the first two functions; driver.cpp has the rest.
namespace offcpud::fuzz {

// Gives one input to a parser and requires what is promised of the result.
void test(std::string_view input);

// Inputs to begin with: made of files of this host or by the tree's own writers, or written out.
std::vector<std::string> seeds();

// Ends the program, which libFuzzer reports with the input, unless `holds`.
void require(bool holds, const char* promise);

}  // namespace offcpud::fuzz
