// SPDX-License-Identifier: Apache-2.0
// What the daemon does when its files have changed: the configuration on SIGHUP, and
// web.config_file with certificates and keys by itself.
#include <algorithm>
#include <utility>

#include "config/config_files.h"
#include "config/config_reload.h"
#include "daemon.h"
#include "push/push_target.h"
#include "runtime/logging.h"
#include "runtime/message_ids.h"
#include "selection/snapshot_rules.h"

namespace offcpud {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void Daemon::reload() {
  main_->begin("reloading the configuration");
  notifier_.reloading();
  auto wanted = load_config(sources_);
  // Both or neither: a bad web.config_file is a bad configuration.
  Result<WebAccess::State> access = Error("not read");
  waits_for_web_files_ = false;
  if (wanted) {
    access = web_->prepare(config_after_reload(config_, *wanted).web);
    const Status push = check_push_files(wanted->push);
    waits_for_web_files_ = push && !access;
    if (!push) wanted = push.error();
    if (!access) wanted = access.error();
    if (access) refused_web_files_.clear();
  }
  if (wanted) {
    const std::vector<std::string> waiting = keys_needing_restart(config_, *wanted);
    if (!waiting.empty()) log_warning("takes effect on the next start: " + joined(waiting));
    commit(*std::move(access));
    apply(config_after_reload(config_, *wanted));
    refused_reload_.clear();
    log_info("configuration reloaded", {{kMessageId, kReloadedId}});
    const std::lock_guard lock(mutex_);
    config_status_.files = files_in_force(sources_.file);
    config_status_.captured = capture_text(config_);
  } else {
    refused_reload_ = wanted.error().message();
    log_error(refused_reload_ + "; keeping the running configuration",
              {{kMessageId, kReloadRefusedId}, {"error", refused_reload_}});
  }
  tell_reload();
  notifier_.ready(status_line(status()));
}

void Daemon::tell_reload() {
  const std::string& error = refused_reload_.empty() ? refused_web_files_ : refused_reload_;
  self_->set_config_reload(error.empty(), clock_.wall());
  const std::lock_guard lock(mutex_);
  config_status_.last_reload_successful = error.empty();
  config_status_.last_reload_error = error;
}

// As the exporter toolkit does: a renewed certificate needs no signal.
void Daemon::reload_web_files() {
  if (!web_->files_changed()) return;
  if (waits_for_web_files_) return reload();  // which was asked for, and refused for them alone
  auto access = web_->prepare(config_.web);
  refused_web_files_ = access ? "" : access.error().message();
  if (access) {
    commit(*std::move(access));
    log_info("TLS and users reloaded", {{kMessageId, kReloadedId}});
  } else {
    log_error(refused_web_files_ + "; keeping the TLS and users in use",
              {{kMessageId, kReloadRefusedId}, {"error", refused_web_files_}});
  }
  tell_reload();
  notifier_.status(status_line(status()));
}

void Daemon::commit(WebAccess::State state) {
  const std::vector<std::string> known = web_->state().warnings;
  for (const std::string& warning : state.warnings) {
    if (std::ranges::find(known, warning) == known.end()) log_warning(warning);
  }
  tell_certificate(state);
  web_->commit(std::move(state));
}

void Daemon::tell_certificate(const WebAccess::State& state) {
  if (state.tls) self_->set_certificate_expiry(state.tls->expires());
}

}  // namespace offcpud
