// SPDX-License-Identifier: Apache-2.0
#include "config/setting.h"

#include "base/printable.h"

namespace offcpud {

std::string Position::text() const {
  return file.empty() ? name : file + ":" + std::to_string(line) + ": " + name;
}

Error Position::refusal(const std::string& what) const {
  Error error(what, ErrorKind::Configuration);
  const std::string where = text();
  return where.empty() ? error : std::move(error).with(where);
}

Position Position::at(const std::string& part, std::size_t line_of_part) const {
  return {file, line_of_part, name.empty() ? part : name + ": " + part};
}

Result<std::vector<YamlItem>> parse_items_of(std::string_view text, const std::string& allowed) {
  const auto problem = [&](const std::string& what) {
    return Error(what + "; use " + allowed, ErrorKind::Configuration);
  };
  if (const Status status = check_one_line(text); !status) {
    return problem(status.error().message());
  }
  auto value = parse_yaml_value(std::string(text));
  if (!value) return problem(value.error().message());
  if (value->kind != YamlKind::List) return problem(quotation(text) + " is not a list");
  return std::move(value->items);
}

}  // namespace offcpud
