// SPDX-License-Identifier: Apache-2.0
#include "web_access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/routes.h"
#include "config/web_config.h"

namespace offcpud {

WebAccess::Stamp WebAccess::stamp_of(const std::filesystem::path& file) {
  struct stat info {};
  Stamp stamp{.file = file};
  if (::stat(file.c_str(), &info) != 0) return stamp;
  stamp.device = info.st_dev;
  stamp.inode = info.st_ino;
  stamp.size = static_cast<std::uint64_t>(info.st_size);
  stamp.seconds = info.st_mtim.tv_sec;
  stamp.nanoseconds = info.st_mtim.tv_nsec;
  return stamp;
}

void WebAccess::watch(const std::filesystem::path& file, std::vector<Stamp>& stamps) {
  if (!file.empty()) stamps.push_back(stamp_of(file));
}

Result<std::unique_ptr<WebAccess>> WebAccess::read(const Config::Web& options,
                                                   const Listener& listener, bool unix_sockets) {
  std::unique_ptr<WebAccess> access(new WebAccess(listener.reach(), listener.address().text()));
  access->trusted_.own_uid = ::geteuid();
  if (unix_sockets && !options.socket_group.empty()) {
    TRY(access->trusted_.group, group_id(options.socket_group));
  }
  TRY(access->state_, access->prepare(options));
  access->stamps_ = std::move(access->state_.stamps);
  return access;
}

void WebAccess::open(Respond next, const Clock& clock, std::shared_ptr<Heartbeat> passwords) {
  control_.emplace(state_.rules, std::move(next), &Routes::is_detail, clock, std::move(passwords));
}

Result<std::vector<std::string>> WebAccess::check(const Config::Web& options) {
  State state;
  TRY(const WebConfig web, read_files(options, state));
  TRY_VOID(access_rules(options, web, Reach{}));
  return web.warnings;
}

// Takes each file's stamp before reading it, so that a change in between is noticed the next time.
Result<WebConfig> WebAccess::read_files(const Config::Web& options, State& state) {
  WebConfig web;
  if (!options.config_file.empty()) {
    watch(options.config_file, state.stamps);
    TRY(web, load_web_config(options.config_file));
  }
  if (web.tls) {
    watch(web.tls->cert_file, state.stamps);
    watch(web.tls->key_file, state.stamps);
    watch(web.tls->client_ca_file, state.stamps);
    TRY(state.tls, TlsContext::load(*web.tls));
  }
  return web;
}

// The stamps are part of the state: if it is not committed because something else fails, the files
// still count as changed and are read again.
Result<WebAccess::State> WebAccess::prepare(const Config::Web& options) {
  State state;
  auto read = read_files(options, state);
  if (!read) {
    stamps_ = std::move(state.stamps);
    return std::move(read).error();
  }
  const WebConfig& web = *read;
  if (control_ && (state.tls != nullptr) != uses_tls()) {
    return Error("TLS cannot be turned on or off while the daemon runs; restart it",
                 ErrorKind::Configuration);
  }
  TRY(state.rules, access_rules(options, web, reach_, trusted_));
  state.headers = web.headers;
  state.warnings = web.warnings;
  for (std::string& warning : access_warnings(state.rules, web, reach_, listen_)) {
    state.warnings.push_back(std::move(warning));
  }
  return state;
}

void WebAccess::commit(State state) {
  control_->set(state.rules);
  stamps_ = std::move(state.stamps);
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

bool WebAccess::files_changed() {
  bool changed = false;
  for (Stamp& stamp : stamps_) {
    Stamp now = stamp_of(stamp.file);
    changed = changed || now != stamp;
    stamp = std::move(now);
  }
  return changed;
}

HttpSettings WebAccess::settings() {
  HttpSettings settings;
  if (uses_tls()) {
    settings.tls = [this] {
      const std::lock_guard lock(mutex_);
      return state_.tls;
    };
  }
  settings.headers = local_settings().headers;
  return settings;
}

HttpSettings WebAccess::local_settings() {
  HttpSettings settings;
  settings.headers = [this] {
    const std::lock_guard lock(mutex_);
    return state_.headers;
  };
  return settings;
}

}  // namespace offcpud
