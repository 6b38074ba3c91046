// SPDX-License-Identifier: Apache-2.0
// What a configuration says of where profiles go, and the address made of it.
#include "config/push_keys.h"
#include "fuzz.h"
#include "push/push_target.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  Config::Push push;
  push.url = take_text(in);
  push.application = take_text(in);
  push.labels = {std::string(take_text(in))};
  push.tenant = take_text(in);
  const std::string host(take_text(in));
  (void)check_push_username(push.tenant);
  if (!check_push_url(push.url) || !check_push_application(push.application) ||
      !check_push_label(push.labels[0]) || !check_push_tenant(push.tenant)) {
    return;
  }
  require(is_printable(push.tenant) && is_printable(push.url), "what is accepted is text");
  const auto target = push_target(push, host);
  if (!target) return require(push.url.empty(), "with a URL there is a target");
  require(target->url.starts_with("http://") || target->url.starts_with("https://"),
          "it is reached by HTTP");
  require(target->url.find_first_of("@?#") == std::string::npos, "without a password or a query");
  const WallTime time(std::chrono::seconds(1'795'000'000));
  const std::string url = ingest_url(*target, time, time + std::chrono::seconds(60));
  require(is_printable(url) && url.find(' ') == std::string::npos, "an address is one word");
  require(std::count(url.begin(), url.end(), '?') == 1 && url.find('#') == std::string::npos,
          "with one query");
}

std::vector<std::string> seeds() {
  return {
      as_input({"https://pyroscope.example.org:4040/base", "offcpud", "env=prod", "t1", "web1"}),
      as_input({"http://[::1]:4040", "a b", "zone=a,b", "", "evil{}\n"}),
      as_input({"http://user:x@host/", "offcpud", "a=b", "", ""}),
      as_input({"http://host/?a=b", "offcpud", "__name__=x", "", "\xff"})};
}

}  // namespace offcpud::fuzz
