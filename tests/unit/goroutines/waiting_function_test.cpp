// SPDX-License-Identifier: Apache-2.0
#include "goroutines/waiting_function.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpud {
namespace {

std::string_view of(const std::vector<std::string_view>& functions) {
  return waiting_function(functions);
}

TEST(WaitingFunction, IsTheInnermostOneThatIsNotOfGosLibrary) {
  EXPECT_EQ(of({"runtime.gopark", "sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow",
                "main.(*till).pay", "net/http.HandlerFunc.ServeHTTP", "main.serve"}),
            "main.(*till).pay");
  EXPECT_EQ(of({"runtime.gopark", "runtime.selectgo", "github.com/lib/pq.(*conn).recv",
                "database/sql.(*DB).query", "example.com/shop/db.Load", "main.main"}),
            "github.com/lib/pq.(*conn).recv");
  EXPECT_EQ(of({"runtime.gopark", "[go]", "main.main"}), "main.main");
}

TEST(WaitingFunction, IsOfTheLibraryIfAllAre) {
  EXPECT_EQ(of({"runtime.gopark", "runtime.netpollblock", "internal/poll.runtime_pollWait",
                "internal/poll.(*pollDesc).waitRead", "net.(*netFD).Read", "net/http.(*conn).serve",
                "runtime.goexit"}),
            "net.(*netFD).Read");
  EXPECT_EQ(of({"runtime.gopark", "time.Sleep"}), "time.Sleep");
  EXPECT_EQ(of({"runtime.gopark", "runtime.bgsweep"}), "");
  EXPECT_EQ(of({}), "");
}

TEST(WaitingFunction, KnowsTheLibraryByItsPackages) {
  EXPECT_TRUE(is_of_go_library("encoding/json.(*Decoder).Decode"));
  EXPECT_TRUE(is_of_go_library("vendor/golang.org/x/net/http2/hpack.NewEncoder"));
  EXPECT_FALSE(is_of_go_library("golang.org/x/sync/errgroup.(*Group).Wait"));
  EXPECT_FALSE(is_of_go_library("timely.Wait"));
  EXPECT_FALSE(is_of_go_library("shop/sync.Lock")) << "a module without a host";
}

}  // namespace
}  // namespace offcpud
