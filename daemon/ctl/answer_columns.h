// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace offcpud {

// Finds the columns in the rows of an answer about stacks (docs/http.md, "Snapshots"). All
// functions throw, as nlohmann::json does, if the answer is not such an answer.
class AnswerColumns {
 public:
  explicit AnswerColumns(const nlohmann::json& answer) {
    const nlohmann::json& names = answer.at("columns");
    for (std::size_t i = 0; i < names.size(); ++i) columns_[names[i].get<std::string>()] = i;
  }

  [[nodiscard]] bool has(const std::string& name) const { return columns_.contains(name); }

  [[nodiscard]] const nlohmann::json& cell(const nlohmann::json& row,
                                           const std::string& name) const {
    return row.at(columns_.at(name));
  }

 private:
  std::map<std::string, std::size_t> columns_;
};

}  // namespace offcpud
