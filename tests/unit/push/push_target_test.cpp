// SPDX-License-Identifier: Apache-2.0
#include "push/push_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

Config::Push with_url(std::string url) {
  Config::Push push;
  push.url = std::move(url);
  return push;
}

TEST(PushTarget, ThereIsNoneWithoutAUrl) {
  EXPECT_FALSE(push_target(Config().push, "web1"));
}

TEST(PushTarget, AppendsIngestToTheBase) {
  EXPECT_EQ(push_target(with_url("http://a:4040"), "")->url, "http://a:4040/ingest");
  EXPECT_EQ(push_target(with_url("https://a/b//"), "")->url, "https://a/b/ingest");
}

TEST(PushTarget, NamesTheHostUnlessALabelDoes) {
  Config::Push push = with_url("http://a");
  EXPECT_EQ(push_target(push, "web1")->series, "offcpud{instance=web1}");
  EXPECT_EQ(push_target(push, "")->series, "offcpud{}");
  EXPECT_EQ(push_target(push, "a,b}")->series, "offcpud{}") << "cannot be written";
  push.labels = {"env=prod"};
  EXPECT_EQ(push_target(push, "web1")->series, "offcpud{instance=web1,env=prod}");
  push.labels = {"env=prod", "instance=x"};
  EXPECT_EQ(push_target(push, "web1")->series, "offcpud{env=prod,instance=x}");
}

TEST(PushTarget, WritesTheUrlOfARequest) {
  Config::Push push = with_url("http://a");
  push.labels = {"instance=ü &=%?#+/"};
  const WallTime begin(1'700'000'000'900ms);
  EXPECT_EQ(ingest_url(*push_target(push, ""), begin, begin + 60s),
            "http://a/ingest?name=offcpud%7Binstance%3D%C3%BC%20%26%3D%25%3F%23%2B%2F%7D"
            "&from=1700000000&until=1700000060&spyName=offcpud");
}

TEST(PushTarget, ReadsASecretOfOneLine) {
  const TempTree tree{{"good", "s e:cret\n"}, {"bare", "x"},
                      {"empty", "\n"},        {"two", "a\nb\n"},
                      {"tab", "geheim\tx\n"}, {"long", std::string(5000, 'x')}};
  EXPECT_EQ(*read_secret(tree.root() / "good"), "s e:cret");
  EXPECT_EQ(*read_secret(tree.root() / "bare"), "x");
  for (const char* bad : {"empty", "two", "tab", "long", "absent"}) {
    const auto secret = read_secret(tree.root() / bad);
    ASSERT_FALSE(secret) << bad;
    EXPECT_THAT(secret.error().message(), HasSubstr(bad));
    EXPECT_THAT(secret.error().message(), Not(HasSubstr("geheim")));
  }
}

TEST(PushTarget, FilesAreCheckedBeforeTheyAreUsed) {
  const TempTree tree{{"secret", "x\n"}, {"ca", "-----BEGIN CERTIFICATE-----\n"}};
  Config::Push push = with_url("https://a");
  push.username = "u";
  push.password_file = tree.root() / "secret";
  push.ca_file = tree.root() / "ca";
  EXPECT_TRUE(check_push_files(push));
  push.ca_file = push.password_file;
  EXPECT_THAT(check_push_files(push).error().message(), HasSubstr("push.ca_file: "));
  push.password_file = tree.root() / "absent";
  const auto absent = check_push_files(push);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message(), HasSubstr("push.password_file: "));
  EXPECT_THAT(absent.error().message(), HasSubstr("No such file"));
  EXPECT_EQ(absent.error().kind(), ErrorKind::Configuration);
  push.password_file = "";
  push.ca_file = "";
  push.token_file = tree.root() / "absent";
  EXPECT_THAT(check_push_files(push).error().message(), HasSubstr("push.token_file: "));
  push.url = "";
  EXPECT_TRUE(check_push_files(push)) << "nothing is sent";
}

}  // namespace
}  // namespace offcpud
