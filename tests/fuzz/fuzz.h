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

// The same for targets whose first byte chooses one of so many versions of a runtime, and whose
// other bytes, ten each, overwrite a word of its memory: (place, offset, word).
std::vector<std::string> seeds_of_versions(int versions);

// Ends the program, which libFuzzer reports with the input, unless `holds`.
void require(bool holds, const char* promise);

}  // namespace offcpud::fuzz
