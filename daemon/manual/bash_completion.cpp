// SPDX-License-Identifier: Apache-2.0
#include "manual/bash_completion.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/hist_kind.h"
#include "base/wait_for.h"
#include "config/config_schema.h"

namespace offcpud {
namespace {

// bash hands "--config=FILE" over as three words.
constexpr std::string_view kBegin = R"(
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=''
  COMPREPLY=()
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
    if [[ $previous != -* ]]; then return; fi
  fi
)";

constexpr std::string_view kEnd = R"(  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
)";

void append_word(std::string& words, std::string_view word) {
  words.append(words.empty() ? "" : " ").append(word);
}

template <class Words>
std::string join(const Words& words) {
  std::string out;
  for (const auto& word : words) append_word(out, word);
  return out;
}

// The line of bash that completes an option's value, or offers nothing.
std::string value_reply(const OptionDoc& option) {
  const auto reply = [](const std::string& source, const char* how) {
    return std::string(how) + "mapfile -t COMPREPLY < <(compgen " + source + " -- \"$current\"); ";
  };
  const std::span<const std::string_view> kinds = kHistKindNames;
  if (!option.choices.empty()) return reply("-W '" + join(option.choices) + "'", "");
  if (option.value == "FILE") return reply("-f", "compopt -o filenames; ");
  if (option.value == "DIR") return reply("-d", "compopt -o filenames; ");
  if (option.value == "REASON") {
    return reply("-W '" + join(kinds.first(OFFCPUD_BLOCKED_KINDS)) + "'", "");
  }
  if (option.value == "FOR") return reply("-W '" + join(kWaitForNames) + "'", "");
  if (option.value != "KEY=VALUE") return {};
  std::string keys;
  for (const Option& known : config_options()) append_word(keys, std::string(known.name) + "=");
  return reply("-W '" + keys + "'", "compopt -o nospace; ");
}

std::string value_arms(const CommandDoc& command, const std::string& name) {
  std::string out;
  for (const OptionDoc& option : command.options) {
    if (option.positional || option.value.empty()) continue;
    std::string pattern;
    for (const std::string& flag : option.names) {
      pattern.append(pattern.empty() ? "'" : " | '").append(name).append(" ").append(flag) += '\'';
    }
    out += "    " + pattern + ") " + value_reply(option) + "return ;;\n";
  }
  return out;
}

// Names of files in the place of a positional that is one.
std::string file_reply(const CommandDoc& command) {
  for (const OptionDoc& option : command.options) {
    if (!option.positional || option.value != "FILE") continue;
    return "if [[ $current != -* ]]; then " + value_reply(option) + "return; fi; ";
  }
  return {};
}

std::string words_arm(const CommandDoc& command, const std::string& name) {
  std::string words;
  for (const CommandDoc& inner : command.commands) append_word(words, inner.name);
  for (const OptionDoc& option : command.options) {
    if (!option.positional) append_word(words, option.names.back());
  }
  return "    '" + name + "') " + file_reply(command) + "words='" + words + "' ;;\n";
}

std::string find_command(const CommandDoc& program) {
  if (program.commands.empty()) return {};
  std::string names;
  for (const CommandDoc& command : program.commands) {
    names += (names.empty() ? "" : " | ") + command.name;
  }
  return "  local word\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $word in\n "
         "     " +
         names + ")\n        command=$word\n        break\n        ;;\n    esac\n  done\n";
}

}  // namespace

std::string bash_completion(const CommandDoc& program) {
  std::string arms = value_arms(program, "");
  std::string words = words_arm(program, "");
  for (const CommandDoc& command : program.commands) {
    arms += value_arms(command, command.name);
    words += words_arm(command, command.name);
  }
  std::string out = "# Completion of " + program.name + " for bash, made from its own options.\n";
  out.append("_").append(program.name).append("() {").append(kBegin).append(find_command(program));
  out += "  case \"$command $previous\" in\n" + arms + "  esac\n";
  out += "  local words=''\n  case $command in\n" + words + "  esac\n";
  out.append(kEnd).append("complete -F _").append(program.name).append(" ").append(program.name);
  return out + "\n";
}

}  // namespace offcpud
