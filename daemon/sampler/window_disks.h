// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/wait_window.h"

namespace offcpud {

// The whole disks of the devices on which threads waited within a window. Reads sysfs.
DisksOfDevices disks_of(const WaitWindow& window);

}  // namespace offcpud
