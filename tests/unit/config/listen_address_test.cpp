// SPDX-License-Identifier: Apache-2.0
#include "config/listen_address.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

TEST(ListenAddress, ReadsTheThreeForms) {
  const struct {
    std::string text;
    ListenAddress address;
  } cases[] = {
      {"127.0.0.1:19435", {"127.0.0.1", 19435, ""}},
      {"localhost:0", {"localhost", 0, ""}},
      {"node-1.example_net:65535", {"node-1.example_net", 65535, ""}},
      {"[::1]:9", {"::1", 9, ""}},
      {"[fe80::1]:80", {"fe80::1", 80, ""}},
      {"unix:/run/offcpud/http.sock", {"", 0, "/run/offcpud/http.sock"}},
      {"unix:/" + std::string(106, 'a'), {"", 0, "/" + std::string(106, 'a')}},
  };
  for (const auto& [text, address] : cases) {
    const auto parsed = parse_listen_address(text);
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(*parsed, address) << text;
    EXPECT_EQ(parsed->text(), text);
  }
}

TEST(ListenAddress, SaysWhatIsWrong) {
  const struct {
    std::string text;
    const char* why;
  } cases[] = {
      {"", "has no port"},
      {"localhost", "has no port"},
      {"19435", "has no port"},
      {"localhost:", "has no valid port"},
      {"localhost:http", "has no valid port"},
      {"localhost:65536", "has no valid port"},
      {"localhost:-1", "has no valid port"},
      {"localhost:80 ", "has no valid port"},
      {":80", "has no host: use 127.0.0.1 for this machine, 0.0.0.0 for all of IPv4"},
      {"::1:80", "has an IPv6 address without brackets"},
      {"a b:80", "has no valid host name"},
      {"http://localhost:80", "has an IPv6 address without brackets"},
      {"10.0.0.256:80", "has no valid IPv4 address"},
      {"[::1:80", "has no closing bracket"},
      {"[::1]", "has no port"},
      {"[::1]80", "has no port"},
      {"[::g]:80", "has no valid IPv6 address"},
      {"[]:80", "has no valid IPv6 address"},
      {"unix:", "has no absolute path"},
      {"unix:run/x.sock", "has no absolute path"},
      {"unix:/run/", "names a directory"},
  };
  for (const auto& [text, why] : cases) {
    const auto parsed = parse_listen_address(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), '"' + text + "\" " + why);
  }
  const auto long_path = parse_listen_address("unix:/" + std::string(107, 'a'));
  ASSERT_FALSE(long_path);
  EXPECT_TRUE(
      long_path.error().message().ends_with("longer than the 107 bytes of a socket address"))
      << long_path.error().message();
}

// inet_pton(3) stops at it.
TEST(ListenAddress, ANulEndsNoAddress) {
  EXPECT_FALSE(parse_listen_address(std::string("[::1\0x]:80", 10)));
}

TEST(ListenAddress, AUrlIsWhatAClientTakes) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:80")->url("/metrics"), "http://127.0.0.1:80/metrics");
  EXPECT_EQ(parse_listen_address("[::1]:80")->url("/metrics"), "http://[::1]:80/metrics");
  EXPECT_EQ(parse_listen_address("unix:/run/x.sock")->url("/metrics"), "unix:/run/x.sock");
}

}  // namespace
}  // namespace offcpud
