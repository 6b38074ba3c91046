// SPDX-License-Identifier: Apache-2.0
#include "http/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "config/listen_address.h"
#include "unit/http/http_client.h"

namespace offcpud {
namespace {

using test::connect_to;
using ::testing::HasSubstr;

TEST(Listener, ReportsThePortThatTheKernelChose) {
  const auto listener = open_listener("127.0.0.1:0");
  ASSERT_TRUE(listener) << listener.error().message();
  EXPECT_NE(listener->address().text(), "127.0.0.1:0");
  EXPECT_FALSE(connect_to(listener->address().text())) << "the program still starts";
  ASSERT_TRUE(listener->listen());
  EXPECT_TRUE(connect_to(listener->address().text()));
}

TEST(Listener, APortInUseSaysWhatToDo) {
  const auto first = open_listener("127.0.0.1:0");
  ASSERT_TRUE(first) << first.error().message();
  const auto second = open_listener(first->address().text());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(), "another process listens on " + first->address().text() +
                                          "; stop it or choose another with --listen");
}

// Connections that the server closed occupy the port for a minute (TIME_WAIT).
TEST(Listener, TheNextProgramGetsThePortAtOnce) {
  std::string address = "127.0.0.1:0";
  for (int program = 0; program < 3; ++program) {
    const auto listener = open_listener(address);
    ASSERT_TRUE(listener) << listener.error().message();
    address = listener->address().text();
    EXPECT_FALSE(open_listener(address)) << "another program that starts";
    ASSERT_TRUE(listener->listen());
    const UniqueFd client = connect_to(address);
    ASSERT_TRUE(client);
    EXPECT_TRUE(UniqueFd(::accept(listener->fd(), nullptr, nullptr))) << "closed here";
  }
}

TEST(Listener, AnAddressOfNoInterfaceSaysSo) {
  const auto listener = open_listener("192.0.2.1:0");
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().message(), HasSubstr("no network interface"));
}

class UnixListenerTest : public ::testing::Test {
 protected:
  UnixListenerTest() {
    std::string name = ::testing::TempDir() + "offcpudXXXXXX";
    directory_ = ::mkdtemp(name.data());
    path_ = directory_ / "http.sock";
    address_ = "unix:" + path_.native();
  }
  ~UnixListenerTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::filesystem::path directory_;
  std::filesystem::path path_;
  std::string address_;
};

TEST_F(UnixListenerTest, TheFileIsForOwnerAndGroupAndGoesWithTheListener) {
  {
    const auto listener = open_listener(address_);
    ASSERT_TRUE(listener) << listener.error().message();
    EXPECT_FALSE(connect_to(address_)) << "the program still starts";
    ASSERT_TRUE(listener->listen());
    EXPECT_TRUE(connect_to(address_));
    struct stat info {};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0660U);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixListenerTest, ALocalSocketIsForEverybodyWithItsFolder) {
  const std::filesystem::path folder = directory_ / "run";
  const std::string path = folder / "local.sock";
  {
    const mode_t before = ::umask(0077);
    const auto listener = open_local_listener(path);
    ::umask(before);
    ASSERT_TRUE(listener) << listener.error().message();
    ASSERT_TRUE(listener->listen());
    EXPECT_TRUE(connect_to("unix:" + path));
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0666U);
    ASSERT_EQ(::stat(folder.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0755U);
    EXPECT_FALSE(open_local_listener(path)) << "somebody listens";
    EXPECT_TRUE(connect_to("unix:" + path));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(UnixListenerTest, TheFolderOfALocalSocketStaysWhereItWasBefore) {
  { ASSERT_TRUE(open_local_listener(path_)); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(std::filesystem::exists(directory_));
  EXPECT_FALSE(open_local_listener(directory_ / "a" / "b" / "local.sock"));
}

// The unit has UMask=0077, under which bind() alone would keep the group out.
TEST_F(UnixListenerTest, TheModeDoesNotDependOnTheUmask) {
  for (const mode_t mask : {mode_t{0077}, mode_t{0}}) {
    const mode_t before = ::umask(mask);
    const auto listener = open_listener(address_);
    ::umask(before);
    ASSERT_TRUE(listener) << listener.error().message();
    struct stat info {};
    ASSERT_EQ(::stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0660U);
  }
}

TEST_F(UnixListenerTest, ASocketThatNobodyAnswersIsReplaced) {
  {
    const auto listener = open_listener(address_);
    ASSERT_TRUE(listener);
    ASSERT_TRUE(listener->listen());
    std::filesystem::rename(path_, directory_ / "kept");
  }
  std::filesystem::rename(directory_ / "kept", path_);
  ASSERT_FALSE(connect_to(address_));
  const auto listener = open_listener(address_);
  ASSERT_TRUE(listener) << listener.error().message();
  ASSERT_TRUE(listener->listen());
  EXPECT_TRUE(connect_to(address_));
}

TEST_F(UnixListenerTest, ASocketThatSomebodyAnswersIsLeftAlone) {
  const auto first = open_listener(address_);
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->listen());
  const auto second = open_listener(address_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("another process listens on unix:"));
  EXPECT_TRUE(connect_to(address_));
}

TEST_F(UnixListenerTest, ALocalSocketInUseSaysWhichOptionChoosesAnother) {
  const auto first = open_local_listener(path_);
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE(first->listen());
  const auto second = open_local_listener(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(),
            "another process listens on " + address_ +
                "; stop it or choose another with --set web.local_socket=PATH");
}

TEST_F(UnixListenerTest, AFileThatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  const auto listener = open_listener(address_);
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().message(), HasSubstr("is not a socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(UnixListenerTest, TheSocketOfASuccessorStays) {
  auto old = std::make_optional(open_listener(address_));
  ASSERT_TRUE(*old);
  std::filesystem::remove(path_);
  const auto successor = open_listener(address_);
  ASSERT_TRUE(successor);
  ASSERT_TRUE(successor->listen());
  const Status late = (*old)->listen();
  ASSERT_FALSE(late) << "nobody would reach it";
  EXPECT_THAT(late.error().message(), HasSubstr("another process listens on unix:"));
  old.reset();
  EXPECT_TRUE(connect_to(address_));
}

}  // namespace
}  // namespace offcpud
