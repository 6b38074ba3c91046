// SPDX-License-Identifier: Apache-2.0
#include "config/config_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/file_io.h"
#include "base/printable.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

Error file_refusal(const fs::path& path, const std::string& what) {
  return Error(printable(path.native()) + ": " + what, ErrorKind::Configuration);
}

Error unreadable(const fs::path& path, int code) {
  std::string what = "cannot be read: " + std::generic_category().message(code);
  if (code == EACCES) what += "; the user offcpud runs as needs read access";
  return file_refusal(path, what);
}

std::string limit_text() {
  return std::to_string(kMaxConfigFileBytes / 1024) + " KiB";
}

// True for a regular file within the size limit; false if there is none.
Result<bool> is_config_file(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    const int code = errno;
    if (code != ENOENT) return unreadable(path, code);
    if (::lstat(path.c_str(), &info) == 0) {
      return file_refusal(path, "is a link to a file that does not exist");
    }
    return false;
  }
  if (S_ISDIR(info.st_mode)) return file_refusal(path, "is a directory; a YAML file is needed");
  if (!S_ISREG(info.st_mode)) {
    return file_refusal(path, "is not a regular file; a YAML file is needed");
  }
  if (static_cast<std::size_t>(info.st_size) > kMaxConfigFileBytes) {
    return file_refusal(path, "is larger than the limit of " + limit_text());
  }
  return true;
}

}  // namespace

Result<std::optional<std::string>> read_config_file(const fs::path& path,
                                                    std::string_view if_empty) {
  TRY(const bool present, is_config_file(path));
  if (!present) return std::optional<std::string>();
  auto text = read_file(path, kMaxConfigFileBytes);
  if (!text && text.error().kind() == ErrorKind::Permission) return unreadable(path, EACCES);
  if (!text) return file_refusal(path, text.error().message());

  // A full disk or a crash during a write leaves an empty file behind. A file of comments is
  // accepted: it chooses the defaults.
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return file_refusal(path, "the file is empty; " + std::string(if_empty));
  }
  if (const auto defect = find_text_defect(*text)) {
    return Error(printable(path.native()) + ":" + std::to_string(defect->line) + ": " +
                     defect->what + "; the file must be UTF-8 text",
                 ErrorKind::Configuration);
  }
  return std::optional(*std::move(text));
}

Result<std::vector<fs::path>> list_drop_ins(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code code;
  fs::directory_iterator entry(directory, code);
  if (code == std::errc::no_such_file_or_directory) return files;
  if (code == std::errc::not_a_directory) return file_refusal(directory, "is not a directory");
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    const fs::path& path = entry->path();
    if (path.filename().native().starts_with('.')) continue;
    if (path.extension() == ".yml") {
      return file_refusal(path, "is not read, because its name does not end in .yaml; rename it");
    }
    if (path.extension() != ".yaml") continue;
    if (files.size() == kMaxDropIns) {
      return file_refusal(directory,
                          "holds more than " + std::to_string(kMaxDropIns) + " .yaml files");
    }
    files.push_back(path);
  }
  if (code) return unreadable(directory, code.value());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_in_force(const std::filesystem::path& file) {
  std::error_code ignored;
  std::vector<std::string> files;
  if (std::filesystem::exists(file, ignored)) files.push_back(file.native());
  if (const auto drop_ins = list_drop_ins(file.parent_path() / "conf.d")) {
    for (const std::filesystem::path& drop_in : *drop_ins) files.push_back(drop_in.native());
  }
  return files;
}

std::string files_text(const std::filesystem::path& file) {
  std::string text;
  for (const std::string& name : files_in_force(file)) {
    text.append(text.empty() ? "read: " : ", ").append(printable(name));
  }
  if (!text.empty()) return text;
  return "no file was read: there is neither " + printable(file.native()) + " nor a file " +
         printable((file.parent_path() / "conf.d").native()) + "/*.yaml";
}

}  // namespace offcpud
