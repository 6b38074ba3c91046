// SPDX-License-Identifier: Apache-2.0
#include "unit/sites/labelled_stacks.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "base/file_io.h"
#include "base/interpreted_name.h"
#include "sites/site_folders.h"
#include "support/file_limit.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return *std::move(result);
}

WaitFor label_named(const std::string& name) {
  const auto label = wait_for_named(name);
  if (!label) throw std::runtime_error("no label: " + name);
  return *label;
}

}  // namespace

std::vector<LabelledStack> labelled_stacks() {
  const fs::path folder = fs::path(OFFCPUD_SOURCE_DIR) / "tests/data/wait-sites";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".folded") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<LabelledStack> stacks;
  for (const fs::path& file : files) {
    for (ReadStack& stack : value_of(read_stacks(value_of(read_file(file, test::kFileLimit))))) {
      LabelledStack labelled;
      labelled.place = file.lexically_relative(folder).native() + ":" + std::to_string(stack.line);
      labelled.of_study = file.parent_path() == folder;
      labelled.label = label_named(stack.label);
      labelled.stack = std::move(stack);
      stacks.push_back(std::move(labelled));
    }
  }
  return stacks;
}

std::shared_ptr<const SiteRules> shipped_rules() {
  const std::array<fs::path, 1> folders = {fs::path(OFFCPUD_SOURCE_DIR) / "config/wait-sites"};
  return value_of(load_site_rules(folders));
}

MatchedStack::MatchedStack(const ReadStack& stack, SiteMatcher& matcher) {
  for (const ReadFrame& frame : stack.user) {
    user_.push_back(matcher.user_frame(frame.function, frame.object));
    if (frame.object == kInterpretedObject) {
      interpreted_.push_back(matcher.interpreted_frame(frame.function));
    }
  }
  for (const ReadFrame& frame : stack.kernel) {
    kernel_.push_back(matcher.kernel_frame(frame.function));
  }
  wait_ = {.exe = matcher.executable(stack.exe),
           .reason = stack.reason,
           .user = user_,
           .kernel = kernel_,
           .interpreted = interpreted_};
}

}  // namespace offcpud
