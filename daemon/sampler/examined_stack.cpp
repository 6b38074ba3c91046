// SPDX-License-Identifier: Apache-2.0
#include "sampler/examined_stack.h"

#include <algorithm>
#include <utility>

#include "base/utf8_prefix.h"

namespace offcpud {
namespace {

using Texts = std::vector<std::string>;

// "Shop.pay (till.py:12)"
std::string with_line(const StackFrame& frame) {
  std::string text = frame.function;
  if (frame.line == 0 || !text.ends_with(')')) return text;
  text.pop_back();
  return text.append(":").append(std::to_string(frame.line)).append(")");
}

Texts full_texts(std::span<const StackFrame> frames) {
  Texts texts;
  texts.reserve(frames.size());
  for (const StackFrame& frame : frames) {
    if (frame.object == kInterpretedObject) {
      texts.push_back(with_line(frame));
      continue;
    }
    const bool has_object = frame.object.empty() || frame.object == "[kernel]" ||
                            frame.function.find(frame.object) != std::string::npos;
    texts.push_back(has_object ? frame.function : frame.function + " [" + frame.object + "]");
  }
  return texts;
}

void cut(std::string& text, std::size_t most) {
  constexpr std::string_view kMore = "...";
  if (text.size() <= most) return;
  text.resize(utf8_prefix(text, most - kMore.size()).size());
  text += kMore;
  text.shrink_to_fit();
}

std::size_t length_of(const Texts& texts) {
  std::size_t length = 0;
  for (const std::string& text : texts) length += text.size();
  return length;
}

std::size_t bytes_of(const SharedTexts& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(std::string) + text.capacity();
  return bytes;
}

}  // namespace

StackTexts texts_of(std::span<const StackFrame> user, std::span<const StackFrame> kernel) {
  constexpr std::size_t kLeast = 16;
  Texts of_user = full_texts(user), of_kernel = full_texts(kernel);
  std::size_t most = StackTexts::kMostOfOne;
  for (; most >= kLeast; most /= 2) {
    for (std::string& text : of_user) cut(text, most);
    for (std::string& text : of_kernel) cut(text, most);
    if (length_of(of_user) + length_of(of_kernel) <= StackTexts::kMostBytes) break;
  }
  return {.user = std::move(of_user),
          .kernel = std::move(of_kernel),
          .shortened = most < StackTexts::kMostOfOne};
}

ExaminedStack::ExaminedStack(ExaminedWait wait, const Of& of, StackRoom& room)
    : room_(room), of_(of), texts_{.user = wait.user, .kernel = wait.kernel} {
  if (of_.at.place == 0) of_.ask = SiteQuestion::None;
  if (is_idle(wait.wait_for)) {
    wait.user = wait.kernel = {};
    if (of_.ask == SiteQuestion::None) texts_ = {};
  }
  wait_ = std::make_shared<const ExaminedWait>(std::move(wait));
  bytes_ = count_bytes();
  room_.add(*this);
}

std::shared_ptr<const ExaminedWait> ExaminedStack::as(const EvidenceVerdict& verdict) {
  if (verdict == this->verdict()) return wait_;
  for (const auto& other : others_) {
    if (EvidenceVerdict{other->wait_for, other->certain} == verdict) return other;
  }
  ExaminedWait other{.wait_for = verdict.wait_for, .site = wait_->site, .certain = verdict.certain};
  if (!is_idle(verdict.wait_for)) {
    other.user = texts_.user;
    other.kernel = texts_.kernel;
  }
  return others_.emplace_back(std::make_shared<const ExaminedWait>(std::move(other)));
}

void ExaminedStack::drop_texts() {
  ExaminedWait wait = *wait_;
  wait.user = wait.kernel = {};
  wait_ = std::make_shared<const ExaminedWait>(std::move(wait));
  others_.clear();
  texts_ = {};
  bytes_ = count_bytes();
}

// With one other verdict, which is the most that is usual. Waits share the texts.
std::size_t ExaminedStack::count_bytes() const {
  return sizeof(ExaminedStack) + 2 * (sizeof(ExaminedWait) + wait_->site.size()) +
         bytes_of(texts_.user) + bytes_of(texts_.kernel);
}

}  // namespace offcpud
