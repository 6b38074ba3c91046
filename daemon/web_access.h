// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "http/access_control.h"
#include "http/access_rules.h"
#include "http/http_server.h"
#include "http/listener.h"

namespace offcpud {

// Who may reach the HTTP server, and how: web.config_file with its certificates, and the options of
// `web`. One thread reads and commits; the server's threads see the last committed state.
class WebAccess {
 public:
  // Identifies a version of a file, to notice changes.
  struct Stamp {
    std::filesystem::path file;
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  // Everything read from the files, complete and checked.
  struct State {
    std::shared_ptr<const TlsContext> tls;  // null: plain HTTP
    HeaderList headers;
    AccessRules rules;
    std::vector<std::string> warnings;
    std::vector<Stamp> stamps;  // taken before the files were read
  };

  // Reads the files for the first time; starts no thread. `unix_sockets`: whether the daemon
  // listens on any, so that web.socket_group has an effect.
  static Result<std::unique_ptr<WebAccess>> read(const Config::Web& options,
                                                 const Listener& listener, bool unix_sockets);

  // After this, several threads may call `handle` at once; it passes permitted requests to `next`.
  // Starts a thread, whose heartbeat is `passwords`. `clock` must outlive the object.
  void open(Respond next, const Clock& clock, std::shared_ptr<Heartbeat> passwords);

  // Reads the files only to find errors. Returns warnings about settings that are valid but have no
  // effect.
  static Result<std::vector<std::string>> check(const Config::Web& options);

  // Reads the files again. After an error the state in force stays. TLS cannot be turned on or off.
  Result<State> prepare(const Config::Web& options);
  void commit(State state);

  // True if a file that is in force, or that the last prepare() failed on, has been replaced or has
  // a new time or size. It then returns false until the next change, so a bad file is reported
  // once.
  bool files_changed();

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] bool uses_tls() const { return state_.tls != nullptr; }
  Response handle(const Request& request) { return control_->handle(request); }
  Response handle_local(const Request& request) { return control_->handle_local(request); }

  // Settings of the server on `listen`, and of the one on web.local_socket, which has no TLS. They
  // refer to this object.
  HttpSettings settings();
  HttpSettings local_settings();

 private:
  WebAccess(Reach reach, std::string listen) : reach_(reach), listen_(std::move(listen)) {}
  static Stamp stamp_of(const std::filesystem::path& file);
  static void watch(const std::filesystem::path& file, std::vector<Stamp>& stamps);
  // Returns the contents; puts TLS and stamps into `state`, the stamps even if it fails.
  static Result<WebConfig> read_files(const Config::Web& options, State& state);

  Reach reach_;
  TrustedPeers trusted_;
  std::string listen_;
  std::vector<Stamp> stamps_;  // see files_changed()
  std::mutex mutex_;
  State state_;  // guarded by mutex_ for the threads of the server
  std::optional<AccessControl> control_;
};

}  // namespace offcpud
