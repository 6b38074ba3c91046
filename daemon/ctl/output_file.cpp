// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "base/file_io.h"
#include "base/unique_handle.h"

namespace offcpud {
namespace {

constexpr mode_t kMode = 0666;  // before the umask

Error failure(int code, const std::filesystem::path& path) {
  const Error error = Error::from_errno(code, "write", path.native());
  return error.kind() == ErrorKind::Permission ? error : Error(error.message(), ErrorKind::Output);
}

Status write_special(const std::filesystem::path& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return failure(errno, path);
  if (const int code = write_all(fd.get(), bytes); code != 0) return failure(code, path);
  return {};
}

// Owns a temporary file; removes it unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) (void)::unlink(path_.c_str());  // it may not exist
  }

  int write(std::string_view bytes) {
    (void)::unlink(path_.c_str());  // whatever exists there is not opened
    const UniqueFd fd(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (!fd) return errno;
    if (const int code = write_all(fd.get(), bytes); code != 0) return code;
    return ::fsync(fd.get()) == 0 ? 0 : errno;
  }

  int rename(const std::filesystem::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
    path_.clear();
    return 0;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

Status write_output(const std::filesystem::path& path, std::string_view bytes) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return failure(EISDIR, path);
  if (exists && !S_ISREG(info.st_mode)) return write_special(path, bytes);

  std::error_code code;
  std::filesystem::path target = exists ? std::filesystem::canonical(path, code) : path;
  if (code) return failure(code.value(), path);
  TemporaryFile temporary(target.parent_path() /
                          (".offcpuctl." + std::to_string(::getpid()) + ".tmp"));
  if (const int error = temporary.write(bytes); error != 0) return failure(error, path);
  if (const int error = temporary.rename(target); error != 0) return failure(error, path);
  return {};
}

}  // namespace offcpud
