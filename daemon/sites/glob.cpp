// SPDX-License-Identifier: Apache-2.0
#include "sites/glob.h"

namespace offcpud {

bool glob_matches(std::string_view glob, std::string_view text) {
  std::size_t star = glob.find('*');
  if (star == std::string_view::npos) return glob == text;
  if (!text.starts_with(glob.substr(0, star))) return false;
  text.remove_prefix(star);
  glob.remove_prefix(star + 1);
  // Takes the text between two stars where it occurs first, which leaves most for the rest.
  while ((star = glob.find('*')) != std::string_view::npos) {
    const std::size_t at = text.find(glob.substr(0, star));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + star);
    glob.remove_prefix(star + 1);
  }
  return text.ends_with(glob);
}

bool glob_covers(std::string_view glob, std::string_view other) {
  // A star of `other` counts as a byte, which only stars of `glob` fit; they also fit whatever it
  // stands for.
  return glob_matches(glob, other);
}

}  // namespace offcpud
