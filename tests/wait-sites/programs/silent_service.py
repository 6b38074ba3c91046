# SPDX-License-Identifier: Apache-2.0
"""silent_service.py ADDRESS NAME: has a name on a bus of D-Bus, and answers no call."""

import sys
import time

import dbus

bus = dbus.bus.BusConnection(sys.argv[1])
bus.request_name(sys.argv[2])
time.sleep(1e6)
