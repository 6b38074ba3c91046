// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace offcpud {

// Texts that never change. Copies share them, in any thread.
class SharedTexts {
 public:
  using value_type = std::string;
  using const_iterator = const std::string*;

  SharedTexts() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the vector.
  SharedTexts(std::vector<std::string> texts) {
    if (texts.empty()) return;
    texts_ = std::make_shared<const std::vector<std::string>>(std::move(texts));
  }
  SharedTexts(std::initializer_list<std::string> texts)
      : SharedTexts(std::vector<std::string>(texts)) {}

  [[nodiscard]] const std::string* data() const { return texts_ ? texts_->data() : nullptr; }
  [[nodiscard]] std::size_t size() const { return texts_ ? texts_->size() : 0; }
  [[nodiscard]] bool empty() const { return !texts_; }
  [[nodiscard]] const_iterator begin() const { return data(); }
  [[nodiscard]] const_iterator end() const { return data() + size(); }

 private:
  std::shared_ptr<const std::vector<std::string>> texts_;  // not empty
};

}  // namespace offcpud
