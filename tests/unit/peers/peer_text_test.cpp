// SPDX-License-Identifier: Apache-2.0
#include "peers/peer_text.h"

#include <gtest/gtest.h>

#include "support/peer_records.h"

namespace offcpud::test {
namespace {

using Kind = WaitPeer::Kind;

TEST(PeerText, AddressesAreWrittenAsUsual) {
  EXPECT_EQ(address_text(peer_address("10.0.0.1"), 5432), "10.0.0.1:5432");
  EXPECT_EQ(address_text(peer_address("10.0.0.1"), 0), "10.0.0.1");
  EXPECT_EQ(address_text(peer_address("2001:db8::1"), 443), "[2001:db8::1]:443");
  EXPECT_EQ(address_text(peer_address("2001:db8::1"), 0), "2001:db8::1");
}

TEST(PeerText, SaysWhatIsNoProcess) {
  DeviceNames devices("/nonexistent");
  const WaitPeer remote{.kind = Kind::Remote, .address = peer_address("10.0.0.2"), .port = 80};
  EXPECT_EQ(on_text(remote, WaitFor::Answer, devices), "remote:10.0.0.2:80");
  EXPECT_EQ(on_text({}, WaitFor::Answer, devices), "(unknown)");
  EXPECT_EQ(on_text({}, WaitFor::Timer, devices), "(nobody)");
  EXPECT_EQ(on_text({.kind = Kind::Others}, WaitFor::Lock, devices), "(other)");
}

// The kernel's own locks are behind system calls for files, too.
TEST(PeerText, OnlyWaitsForStorageAreOnADevice) {
  DeviceNames devices("/nonexistent");
  WaitPeer peer{.kind = Kind::Device, .device = 8U << 20 | 3U};
  EXPECT_EQ(on_text(peer, WaitFor::Storage, devices), "device:8:3");
  EXPECT_EQ(on_text(peer, WaitFor::Lock, devices), "(unknown)");
  EXPECT_EQ(process_in(peer, WaitFor::Lock), nullptr);
  peer.process.tgid = 7;
  EXPECT_EQ(process_in(peer, WaitFor::Lock), &peer.process);
  EXPECT_EQ(process_in(peer, WaitFor::Storage), nullptr);
}

TEST(PeerText, WhoAskedToSleepWaitsForNobody) {
  const WaitPeer peer{.kind = Kind::Process, .process = {.tgid = 7}};
  EXPECT_EQ(process_in(peer, WaitFor::Timer), nullptr);
  EXPECT_EQ(process_in(peer, WaitFor::Work), &peer.process);
}

}  // namespace
}  // namespace offcpud::test
