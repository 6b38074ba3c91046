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
// `web`. One thread reads and commits; the threads of the server see what was committed last.
class WebAccess {
 public:
  // By which a change of a file is noticed.
  struct Stamp {
    std::filesystem::path file;
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  // What was read, whole and checked.
  struct State {
    std::shared_ptr<const TlsContext> tls;  // null: plain HTTP
    HeaderList headers;
    AccessRules rules;
    std::vector<std::string> warnings;
    std::vector<Stamp> stamps;  // of the files, from before they were read
  };

  // Reads the files for the first time. Starts no thread yet.
  // `unix_sockets`: whether there are any, on which web.socket_group means something.
  static Result<std::unique_ptr<WebAccess>> read(const Config::Web& options,
                                                 const Listener& listener, bool unix_sockets);

  // From now on `handle` may be called, by several threads at once; `next` answers what may be
  // answered. Starts a thread, whose heartbeat is `passwords`. `clock` outlives the object.
  void open(Respond next, const Clock& clock, std::shared_ptr<Heartbeat> passwords);

  // Reads the files for their errors only; what is right and has no effect is warned of.
  static Result<std::vector<std::string>> check(const Config::Web& options);

  // Reads the files again. An error: what is in force stays so. TLS cannot come or go.
  Result<State> prepare(const Config::Web& options);
  void commit(State state);

  // True if a file that is in force, or that `prepare` last failed at, is another one now, or has
  // another time or size. Then false until it changes again: a bad file is not reported each
  // second.
  bool files_changed();

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] bool uses_tls() const { return state_.tls != nullptr; }
  Response handle(const Request& request) { return control_->handle(request); }
  Response handle_local(const Request& request) { return control_->handle_local(request); }

  // Of the server on `listen`, and of that on web.local_socket, which has no TLS; they refer to
  // this object.
  HttpSettings settings();
  HttpSettings local_settings();

 private:
  WebAccess(Reach reach, std::string listen) : reach_(reach), listen_(std::move(listen)) {}
  static Stamp stamp_of(const std::filesystem::path& file);
  static void watch(const std::filesystem::path& file, std::vector<Stamp>& stamps);
  // What is in them; TLS and stamps go to `state`, the latter even if it fails.
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
