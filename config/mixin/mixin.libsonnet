// SPDX-License-Identifier: Apache-2.0
// Dashboards, alerts and recording rules for those who deploy them with jsonnet, in the form of
// https://monitoring.mixins.dev. It imports the files in ../grafana and ../prometheus.
//
//   local offcpud = import 'offcpud/config/mixin/mixin.libsonnet';
//   offcpud { _config+:: { histograms: 'native' } }
local recorded = {
  classic: std.parseYaml(importstr '../prometheus/classic.rules.yaml'),
  native: std.parseYaml(importstr '../prometheus/native.rules.yaml'),
};
local alerts = std.parseYaml(importstr '../prometheus/alerts.rules.yaml');

{
  local config = self._config,
  local withRunbook(rule) =
    if std.objectHas(rule, 'alert')
    then rule { annotations+: { runbook_url: config.runbookPrefix + super.runbook_url } }
    else rule,

  _config+:: {
    // The histograms that Prometheus scrapes: 'classic' or 'native'.
    histograms: 'classic',
    // What comes before docs/runbooks/... in the links of alerts: 'https://example.org/offcpud/'.
    runbookPrefix: '',
  },

  grafanaDashboards+:: {
    'offcpud-overview.json': import '../grafana/dashboards/offcpud-overview.json',
    'offcpud-unit.json': import '../grafana/dashboards/offcpud-unit.json',
    'offcpud-daemon.json': import '../grafana/dashboards/offcpud-daemon.json',
  },
  prometheusRules+:: {
    groups+:
      if std.objectHas(recorded, config.histograms)
      then recorded[config.histograms].groups
      else error "_config.histograms: expected 'classic' or 'native', not '" + config.histograms + "'",
  },
  prometheusAlerts+:: {
    groups+: [group { rules: std.map(withRunbook, group.rules) } for group in alerts.groups],
  },
}
