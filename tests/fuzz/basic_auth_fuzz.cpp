// SPDX-License-Identifier: Apache-2.0
// The header Authorization with user and password.
#include "fuzz.h"
#include "http/password_checker.h"

namespace offcpud::fuzz {
namespace {

// RFC 4648, section 4, a bit at a time.
std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 6) {
    unsigned value = 0;
    for (std::size_t i = bit; i < bit + 6; ++i) {
      const unsigned byte = i / 8 < bytes.size() ? static_cast<unsigned char>(bytes[i / 8]) : 0U;
      value = value << 1U | ((byte >> (7 - i % 8)) & 1U);
    }
    text += kDigits[value];
  }
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace

void test(std::string_view input) {
  const auto credentials = parse_basic_authorization(std::string(input));
  if (credentials) {
    require(credentials->user.find(':') == std::string::npos, "a user's name has no colon");
    require(credentials->user.size() + credentials->password.size() < input.size(),
            "both are in the header");
  } else {
    require(credentials.error().message() == parse_basic_authorization("x").error().message(),
            "an error says nothing of the content");
  }
  const std::string header = "Basic " + base64(input);
  const auto again = parse_basic_authorization(header);
  const std::size_t colon = input.find(':');
  if (colon == std::string_view::npos) return require(!again, "there is a colon");
  require(
      again && again->user == input.substr(0, colon) && again->password == input.substr(colon + 1),
      "what a client sends is read");
}

std::vector<std::string> seeds() {
  return {"Basic YWxpY2U6c2VjcmV0",
          "basic  YTo=",
          "Basic Og==",
          "Basic YWxpY2U6c2VjcmV0=",
          "Bearer abc",
          "alice:secret",
          ":",
          "a:b:c",
          std::string("a:\0b", 4),
          "\xff:\xfe"};
}

}  // namespace offcpud::fuzz
