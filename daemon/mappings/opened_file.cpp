// SPDX-License-Identifier: Apache-2.0
#include "mappings/opened_file.h"

#include <cerrno>

namespace offcpud {

OpenedFile::Outcome outcome_of_errno(int code) {
  using Outcome = OpenedFile::Outcome;
  switch (code) {
    case EPERM:
    case EACCES:
      return Outcome::Denied;
    case ENOENT:
    case ENOTDIR:
    case ELOOP:   // other links are on the way than when it was mapped
    case ESRCH:   // the process is gone
    case ESTALE:  // the server of its file system no longer has it
    case EAGAIN:  // not in the cache of names, so nobody mapped it just now
      return Outcome::Gone;
    default:
      return Outcome::Failed;
  }
}

OpenedFile not_opened(OpenedFile::Outcome outcome) {
  OpenedFile file;
  file.outcome = outcome;
  return file;
}

}  // namespace offcpud
