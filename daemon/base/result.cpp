// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace offcpud {

Error Error::from_errno(int code, std::string_view operation, std::string_view object) {
  std::string message(operation);
  if (!object.empty()) message.append(" '").append(object).append("'");
  message.append(": ").append(std::generic_category().message(code));
  const bool denied = code == EPERM || code == EACCES;
  return Error(std::move(message), denied ? ErrorKind::Permission : ErrorKind::Internal);
}

}  // namespace offcpud
