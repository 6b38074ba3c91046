// SPDX-License-Identifier: Apache-2.0
#include "listeners.h"

#include <string>
#include <utility>

#include "runtime/logging.h"
#include "runtime/socket_activation.h"

namespace offcpud {

Result<Listener> find_listener(const Config& config) {
  TRY(auto passed, activated_socket());
  if (!passed) return open_listener(config.listen, config.web.socket_group);
  TRY(auto listener, adopt_listener(*std::move(passed)));
  log_info("listening on the socket of the service manager, " + listener.address().text() +
           ", in place of `listen`");
  return listener;
}

std::optional<Listener> find_local_listener(const Config& config, const Listener& main) {
  const std::string& path = config.web.local_socket;
  if (path.empty() || main.address().unix_path == path) return std::nullopt;
  auto listener = open_local_listener(path);
  if (listener) return *std::move(listener);
  log_warning("web.local_socket: " + listener.error().message() +
              ". Going on without it: only users who log in see addresses and paths of files");
  return std::nullopt;
}

}  // namespace offcpud
