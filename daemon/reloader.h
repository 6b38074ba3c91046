// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/status_report.h"
#include "base/clock.h"
#include "config/config_loader.h"
#include "metrics/self_metrics.h"
#include "runtime/service_notifier.h"
#include "sites/site_rules_board.h"
#include "web_access.h"

namespace offcpud {

// Reads the configuration and the rules of wait sites again on SIGHUP, and web.config_file with its
// certificates and keys whenever these files change, so a renewed certificate needs no signal. New
// settings and rules take effect all together or not at all. After a refusal the running ones stay,
// and status(), a metric and the log say why until an attempt succeeds.
//
// Any thread may call status(); one thread calls the rest. All arguments must outlive the object.
class Reloader {
 public:
  struct Parts {
    ConfigSources sources;
    const Config& running;  // only Callbacks::apply changes it
    SiteRulesBoard& site_rules;
    WebAccess& web;
    SelfMetrics& metrics;
    const ServiceNotifier& notifier;
    const Clock& clock;
  };
  struct Callbacks {
    std::function<void(const Config& config)> apply;  // takes effect, except `web`
    std::function<std::string()> status_line;         // status text for the service manager
  };
  Reloader(Parts parts, Callbacks callbacks);

  void reload();

  // Cheap enough to be called each second: four stat(2) calls while nothing has changed.
  void reload_web_files();

  [[nodiscard]] ConfigStatus status() const;

 private:
  struct Wanted {
    Config config;
    std::shared_ptr<const SiteRules> site_rules;
    WebAccess::State web;
  };
  Result<Wanted> read();
  void put_in_force(Wanted wanted);
  void put_in_force(WebAccess::State web);
  void refuse(const std::string& error, const char* what_stays) const;
  void note_config();
  void note_site_rules();
  void note_certificate(const WebAccess::State& web);
  void note_outcome();

  const Parts parts_;
  const Callbacks callbacks_;
  std::string refused_;                 // why the last reload was refused; empty: it was not
  std::string refused_web_;             // why changed web files are not in force; empty: they are
  bool refused_for_web_files_ = false;  // the web files alone were why the last reload was refused
  std::vector<std::string> needs_restart_;
  bool has_file_ = false;  // the main file was there when it was last read

  mutable std::mutex mutex_;
  ConfigStatus status_;
};

}  // namespace offcpud
