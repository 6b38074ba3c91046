// SPDX-License-Identifier: Apache-2.0
#include "goroutines/waiting_function.h"

#include <algorithm>
#include <array>

namespace offcpud {
namespace {

// The first parts of the paths of its packages: src/ of Go 1.16 to 1.26. Other packages have a dot
// there, unless a module has no name of a host; "main" is nobody's library.
constexpr auto kLibrary = std::to_array<std::string_view>(
    {"archive",  "bufio",   "bytes",   "cmp",      "compress", "container", "context", "crypto",
     "database", "debug",   "embed",   "encoding", "errors",   "expvar",    "flag",    "fmt",
     "go",       "hash",    "html",    "image",    "index",    "internal",  "io",      "iter",
     "log",      "maps",    "math",    "mime",     "net",      "os",        "path",    "plugin",
     "reflect",  "regexp",  "runtime", "slices",   "sort",     "strconv",   "strings", "structs",
     "sync",     "syscall", "testing", "text",     "time",     "type:",     "unicode", "unique",
     "vendor",   "weak"});

std::string_view first_part(std::string_view function) {
  const std::size_t slash = function.find('/');
  // "net/http.get" has the package's path in front of the dot behind the last slash.
  if (slash != std::string_view::npos) return function.substr(0, slash);
  return function.substr(0, function.find('.'));
}

}  // namespace

bool is_of_go_library(std::string_view function) {
  return std::ranges::find(kLibrary, first_part(function)) != kLibrary.end();
}

std::string_view waiting_function(std::span<const std::string_view> functions) {
  for (const std::string_view function : functions) {
    if (!function.empty() && function.front() != '[' && !is_of_go_library(function)) {
      return function;
    }
  }
  for (const std::string_view function : functions) {
    const bool waits = function.starts_with("runtime.") || function.starts_with("internal/poll.") ||
                       function.starts_with("sync.runtime_");
    if (!function.empty() && !waits) return function;
  }
  return {};
}

}  // namespace offcpud
