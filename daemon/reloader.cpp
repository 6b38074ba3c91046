// SPDX-License-Identifier: Apache-2.0
#include "reloader.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "config/config_files.h"
#include "config/config_reload.h"
#include "config/notation.h"
#include "push/push_target.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"
#include "selection/snapshot_rules.h"

namespace offcpud {

Reloader::Reloader(Parts parts, Callbacks callbacks)
    : parts_(std::move(parts)), callbacks_(std::move(callbacks)) {
  note_config();
  for (const std::string& warning : parts_.web.state().warnings) log_warning(warning);
  note_certificate(parts_.web.state());
  note_outcome();
}

void Reloader::reload() {
  parts_.notifier.reloading();
  auto wanted = read();
  if (wanted) {
    put_in_force(*std::move(wanted));
    refused_.clear();
    log_info("configuration reloaded", {{kMessageId, kReloadedId}});
  } else {
    refused_ = wanted.error().message();
    refuse(refused_, "the running configuration");
  }
  note_outcome();
  parts_.notifier.ready(callbacks_.status_line());
}

// Reads both or fails: a bad web.config_file makes the whole configuration bad.
Result<Reloader::Wanted> Reloader::read() {
  refused_for_web_files_ = false;
  // The default file may be absent, but removing it while it is in use is no wish for the defaults.
  const std::filesystem::path& file = parts_.sources.file;
  if (std::error_code ignored; has_file_ && !std::filesystem::exists(file, ignored)) {
    return Error(printable(file.native()) +
                 ": is gone; put it back, with one line of comment if you want the defaults, and "
                 "reload");
  }
  TRY(auto config, load_config(parts_.sources));
  TRY_VOID(check_absent_file(config, parts_.sources, {}));  // `listen` stays as it is
  auto web = parts_.web.prepare(config_after_reload(parts_.running, config).web);
  if (web) refused_web_.clear();
  const Status push = check_push_files(config.push);
  refused_for_web_files_ = push && !web;
  if (!web) return std::move(web).error();
  if (!push) return push.error();
  return Wanted{std::move(config), *std::move(web)};
}

void Reloader::put_in_force(Wanted wanted) {
  const std::vector<std::string> later = keys_needing_restart(parts_.running, wanted.config);
  const std::vector<std::string_view> names(later.begin(), later.end());
  if (!names.empty()) log_warning("takes effect on the next start: " + enumeration(names));
  needs_restart_ = later;
  put_in_force(std::move(wanted.web));
  callbacks_.apply(config_after_reload(parts_.running, wanted.config));
  note_config();
}

void Reloader::put_in_force(WebAccess::State web) {
  const std::vector<std::string> known = parts_.web.state().warnings;
  for (const std::string& warning : web.warnings) {
    if (std::ranges::find(known, warning) == known.end()) log_warning(warning);
  }
  note_certificate(web);
  parts_.web.commit(std::move(web));
}

void Reloader::reload_web_files() {
  if (!parts_.web.files_changed()) return;
  // The refused reload failed only because of these files, so try all of it again.
  if (refused_for_web_files_) return reload();
  auto web = parts_.web.prepare(parts_.running.web);
  refused_web_ = web ? "" : web.error().message();
  if (web) {
    put_in_force(*std::move(web));
    log_info("TLS and users reloaded", {{kMessageId, kReloadedId}});
  } else {
    refuse(refused_web_, "the TLS and users in use");
  }
  note_outcome();
  parts_.notifier.status(callbacks_.status_line());
}

void Reloader::refuse(const std::string& error, const char* what_stays) const {
  log_error(error + "; keeping " + what_stays, {{kMessageId, kReloadRefusedId}, {"error", error}});
}

void Reloader::note_config() {
  const std::filesystem::path& file = parts_.sources.file;
  std::error_code ignored;
  has_file_ = std::filesystem::exists(file, ignored);
  if (!has_file_) {
    log_info("there is no " + printable(file.native()) +
             ": what is set nowhere else has its default");
  }
  const std::lock_guard lock(mutex_);
  status_.needs_restart = needs_restart_;
  status_.files = files_in_force(file);
  status_.captured = capture_text(parts_.running);
}

void Reloader::note_certificate(const WebAccess::State& web) {
  if (web.tls) parts_.metrics.set_certificate_expiry(web.tls->expires());
}

void Reloader::note_outcome() {
  const std::string& error = refused_.empty() ? refused_web_ : refused_;
  parts_.metrics.set_config_reload(error.empty(), parts_.clock.wall());
  const std::lock_guard lock(mutex_);
  status_.last_reload_successful = error.empty();
  status_.last_reload_error = error;
}

ConfigStatus Reloader::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace offcpud
