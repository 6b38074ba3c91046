// SPDX-License-Identifier: Apache-2.0
// Names of functions of C++ and Rust.
#include "fuzz.h"
#include "symbols/demangle.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  for (const std::string& name : {demangle(input), shown_name(input)}) {
    require(is_printable(name), "a shown name is UTF-8 without control characters");
    require(name.size() <= kMaxShownName, "and has 1024 bytes at most");
  }
}

std::vector<std::string> seeds() {
  return {"_ZN3foo3barIiEEvT_",
          "_ZNSt6vectorISsSaISsEE9push_backERKSs",
          "_ZNSt8__detail9_Map_baseISsSt4pairIKSsiESaIS3_ENS_10_Select1stEE",
          "_ZZN1a1bEvENKUlvE_clEv",
          "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
          "_RNvNtCs1234_7mycrate3foo3bar",
          "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
          "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
          "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
          "__ZN3foo3barEv",
          "_ZTV3foo",
          "main",
          "_Z\xff\xfe",
          "_ZN1\x1b[31mE"};
}

}  // namespace offcpud::fuzz
