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
    case ELOOP:   // other links lie on the way than when it was mapped
    case ESRCH:   // the process
    case ESTALE:  // the server of its file system has it no more
    case EAGAIN:  // not in the cache of names: nobody mapped it a moment ago
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
