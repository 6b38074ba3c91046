#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: watchdog_test.sh BUILD_DIR. A daemon that hangs is killed and started again. Slow: it waits
# for two time-outs.
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/system/container.sh
source "$here/container.sh"
# shellcheck source=tests/system/service.sh
source "$here/service.sh"

container_requirements
trap container_remove EXIT
service_install "$1"

inside mkdir -p /run/systemd/system/offcpud.service.d
printf '[Service]\nWatchdogSec=5\nTimeoutAbortSec=2\n' |
  inside tee /run/systemd/system/offcpud.service.d/watchdog.conf >/dev/null
inside systemctl daemon-reload
check "it starts" inside systemctl start offcpud
pid=$(main_pid)
sleep 12
check "passes keep the watchdog quiet" test "$(main_pid)" = "$pid"

since=$(date +%s)
inside kill -STOP "$pid"
new_and_active() { [[ $(main_pid) != 0 && $(main_pid) != "$pid" ]] && has_property ActiveState active; }
check "a stopped daemon is replaced" eventually 40 new_and_active
check "the journal names the watchdog" log_says "$since" 'watchdog'
inside systemctl stop offcpud
service_report
