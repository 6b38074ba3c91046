// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ctl/whole_number.h"

namespace offcpud {

// Finds the columns in the rows of an answer about stacks (docs/http.md, "Snapshots"). All
// functions throw, as nlohmann::json does, if the answer has another form.
class AnswerColumns {
 public:
  // `answer` must outlive the object.
  explicit AnswerColumns(const nlohmann::json& answer) : answer_(answer) {
    const nlohmann::json& names = answer.at("columns");
    for (std::size_t i = 0; i < names.size(); ++i) columns_[names[i].get<std::string>()] = i;
  }

  [[nodiscard]] bool has(const std::string& name) const { return columns_.contains(name); }

  [[nodiscard]] const nlohmann::json& cell(const nlohmann::json& row,
                                           const std::string& name) const {
    return row.at(columns_.at(name));
  }

  [[nodiscard]] std::uint64_t number(const nlohmann::json& row, const std::string& name) const {
    return whole_number<std::uint64_t>(cell(row, name));
  }

  // The entry of a list of the answer ("strings", "stacks", "frames") at `index`.
  [[nodiscard]] const nlohmann::json& entry(const char* list, const nlohmann::json& index) const {
    return answer_.at(list).at(whole_number<std::size_t>(index));
  }

  [[nodiscard]] const std::string& string(const nlohmann::json& index) const {
    return entry("strings", index).get_ref<const std::string&>();
  }

  // Numbers of the frames of the row's stack.
  [[nodiscard]] const nlohmann::json& stack(const nlohmann::json& row) const {
    return entry("stacks", cell(row, "stack"));
  }

 private:
  const nlohmann::json& answer_;
  std::map<std::string, std::size_t> columns_;
};

}  // namespace offcpud
