// SPDX-License-Identifier: Apache-2.0
// The fields Accept and Accept-Encoding.
#include "fuzz.h"
#include "http/content_negotiation.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  (void)preferred_format(input);
  const auto coding = preferred_coding(input);
  // An identity that is named last, with the highest weight, is preferred to nothing but gzip.
  const std::string more = std::string(input) + ",identity;q=1,gzip;q=0";
  const auto plain = preferred_coding(more);
  require(plain == ContentCoding::Identity || input.find('"') != std::string_view::npos,
          "the last word of a field counts");
  if (coding == ContentCoding::Gzip) {
    require(
        input.find("gz") != std::string_view::npos || input.find("GZ") != std::string_view::npos ||
            input.find("Gz") != std::string_view::npos ||
            input.find("gZ") != std::string_view::npos || input.find('*') != std::string_view::npos,
        "gzip comes to who asks for it");
  }
}

std::vector<std::string> seeds() {
  return {
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
      "encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
      "application/openmetrics-text;version=1.0.0,text/plain",
      "gzip, deflate;q=0.5, *;q=0",
      "x-gzip;q=1.0,identity;q=0",
      "text/*;q=0.001",
      "text/plain;a=\"b,c;q=0\";q=0.1",
      "*;q=2",
      "gzip;q=0.0001"};
}

}  // namespace offcpud::fuzz
