// SPDX-License-Identifier: Apache-2.0
#include "http/content_negotiation.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

constexpr auto kText = ExpositionFormat::Text;
constexpr auto kProtobuf = ExpositionFormat::Protobuf;

struct Case {
  const char* accept;
  ExpositionFormat format;
};

class Accept : public ::testing::TestWithParam<Case> {};

TEST_P(Accept, PrefersAsTheFieldSays) {
  EXPECT_EQ(preferred_format(GetParam().accept), GetParam().format) << GetParam().accept;
}

// As servers send them.
INSTANTIATE_TEST_SUITE_P(
    Scrapers, Accept,
    ::testing::Values(
        // 2.42 with and without native histograms
        Case{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
             "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,"
             "application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
             "*/*;q=0.1",
             kProtobuf},
        Case{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
             "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
             kText},
        // 3.5
        Case{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
             "encoding=delimited;escaping=allow-utf-8;q=0.6,application/openmetrics-text;"
             "version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;"
             "version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
             "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
             kProtobuf},
        Case{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", kText},
        Case{"*/*", kText}, Case{"", kText}));

INSTANTIATE_TEST_SUITE_P(
    Weights, Accept,
    ::testing::Values(
        Case{"text/plain;q=0.5, application/vnd.google.protobuf;q=0.51", kProtobuf},
        Case{"text/plain;q=0.51, application/vnd.google.protobuf;q=0.5", kText},
        Case{"application/vnd.google.protobuf;q=0, */*", kText},
        Case{"text/plain;q=0, */*;q=0.001", kProtobuf}, Case{"text/*, application/*;q=0.9", kText},
        Case{"application/vnd.google.protobuf, */*", kProtobuf},  // named, not just allowed
        Case{"application/vnd.google.protobuf, text/plain", kText},
        // The most exact range decides, wherever it stands.
        Case{"application/vnd.google.protobuf;q=0.1, text/plain;q=0.5, "
             "application/vnd.google.protobuf;encoding=delimited;q=0.9",
             kProtobuf},
        Case{"APPLICATION/vnd.Google.Protobuf ; Proto=\"io.prometheus.client.MetricFamily\" ; "
             "encoding=delimited ; Q=1.0 , text/plain;q=0.2",
             kProtobuf}));

INSTANTIATE_TEST_SUITE_P(
    OthersAndNonsense, Accept,
    ::testing::Values(Case{"application/vnd.google.protobuf;encoding=text", kText},
                      Case{"application/vnd.google.protobuf;proto=other.Message", kText},
                      Case{"application/openmetrics-text;version=1.0.0", kText},
                      Case{"application/json", kText},
                      Case{"text/plain;q=0, application/x;q=0", kText}, Case{",,;;=,\",", kText},
                      Case{"text/plain;x=\"a,application/vnd.google.protobuf", kText},
                      Case{"protobuf", kText},
                      Case{"text/plain;q=0.2;q=, application/vnd.google.protobuf;q=2", kText}));

TEST(AcceptEncoding, GzipWhereItIsNamedAndNotPreferredLess) {
  const auto gzip = ContentCoding::Gzip;
  const auto identity = ContentCoding::Identity;
  EXPECT_EQ(preferred_coding(std::nullopt), identity);
  EXPECT_EQ(preferred_coding(""), identity);
  EXPECT_EQ(preferred_coding("gzip"), gzip);
  EXPECT_EQ(preferred_coding("X-GZIP;q=0.5, br"), gzip);
  EXPECT_EQ(preferred_coding("br, deflate"), identity);
  EXPECT_EQ(preferred_coding("gzip;q=0"), identity);
  EXPECT_EQ(preferred_coding("gzip;q=0.5, identity;q=0.6"), identity);
  EXPECT_EQ(preferred_coding("gzip;q=0.6, identity;q=0.6"), gzip);
  EXPECT_EQ(preferred_coding("*"), gzip);
  EXPECT_EQ(preferred_coding("gzip;q=0, *"), identity);
  EXPECT_EQ(preferred_coding("identity;q=0, gzip;q=0.001"), gzip);
}

TEST(AcceptEncoding, NothingIsLeftWhenAllIsRefused) {
  EXPECT_EQ(preferred_coding("identity;q=0"), std::nullopt);
  EXPECT_EQ(preferred_coding("*;q=0"), std::nullopt);
  EXPECT_EQ(preferred_coding("gzip;q=0, identity;q=0, br"), std::nullopt);
  EXPECT_EQ(preferred_coding("*;q=0, identity"), ContentCoding::Identity);
  EXPECT_TRUE(allows_identity(std::nullopt));
  EXPECT_TRUE(allows_identity("gzip, identity;q=0.1"));
  EXPECT_TRUE(allows_identity("*;q=0, identity"));
  EXPECT_FALSE(allows_identity("gzip, identity;q=0"));
  EXPECT_FALSE(allows_identity("gzip, *;q=0"));
}

}  // namespace
}  // namespace offcpud
