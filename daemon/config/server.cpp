// SPDX-License-Identifier: Apache-2.0
#include "config/server.h"

#include "base/printable.h"

namespace offcpud {

Result<Server> parse_server(std::string_view text) {
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  const bool tls = text.starts_with(kTls);
  std::string_view rest = text;
  if (tls) rest.remove_prefix(kTls.size());
  if (text.starts_with(kPlain)) rest.remove_prefix(kPlain.size());
  const bool is_url = rest.size() != text.size();
  if (is_url && rest.ends_with('/')) rest.remove_suffix(1);  // as a browser shows it
  if (is_url && rest.find('/') != std::string_view::npos) {
    return Error(quotation(text) + " has a path or a name of a socket behind the scheme; write " +
                     std::string(tls ? kTls : kPlain) + "HOST:PORT",
                 ErrorKind::Configuration);
  }
  TRY(auto address, parse_listen_address(rest));
  return Server{.address = std::move(address), .tls = tls};
}

}  // namespace offcpud
