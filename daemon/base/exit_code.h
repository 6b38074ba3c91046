// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace offcpud {

// Numbers of sysexits.h, by which systemd and scripts tell "try again" from "repair first".
enum class ExitCode : int {
  Ok = 0,
  Usage = 64,
  NotFound = 66,  // EX_NOINPUT
  Unsupported = 69,
  Internal = 70,
  Output = 73,  // EX_CANTCREAT
  Permission = 77,
  Configuration = 78,
};

constexpr ExitCode exit_code_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Usage:
      return ExitCode::Usage;
    case ErrorKind::Unsupported:
      return ExitCode::Unsupported;
    case ErrorKind::Permission:
      return ExitCode::Permission;
    case ErrorKind::Configuration:
      return ExitCode::Configuration;
    case ErrorKind::NotFound:
      return ExitCode::NotFound;
    case ErrorKind::Output:
      return ExitCode::Output;
    case ErrorKind::Internal:
      break;
  }
  return ExitCode::Internal;
}

}  // namespace offcpud
