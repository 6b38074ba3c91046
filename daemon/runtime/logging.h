// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

enum class LogLevel { Trace, Debug, Info, Warning, Error };

// Parses a value of the option log_level: trace, debug, info, warning, error.
std::optional<LogLevel> parse_log_level(std::string_view name);

// A structured value that accompanies the message. The journal stores it as OFFCPUD_<NAME>; a
// terminal shows name=value, unless the message contains the value. Names consist of lower case
// letters, digits and underscores.
struct LogField {
  std::string_view name;
  std::string value;
};

// The field with this name becomes the journal's MESSAGE_ID (32 hexadecimal digits); a terminal
// does not show it.
inline constexpr std::string_view kMessageId = "message_id";

// The fields of one line, from braces or a vector. It refers to them, so use it as a parameter
// only.
class LogFields {
 public:
  LogFields() = default;
  LogFields(std::initializer_list<LogField> fields)  // NOLINT(*-explicit-*): written in braces
      : fields_(fields.begin(), fields.size()) {}
  LogFields(const std::vector<LogField>& fields) : fields_(fields) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::span<const LogField> fields_;
};

// Logs to the journal if standard error is connected to it, else to standard error. Before this
// call, lines go to standard error at level info. Call it once, before other threads start.
void init_logging(LogLevel level);

// Any thread may call it at any time.
void set_log_level(LogLevel level);

// Thread-safe. No failure while logging reaches the caller.
void log(LogLevel level, std::string_view message, LogFields fields = {}) noexcept;

inline void log_debug(std::string_view message, LogFields fields = {}) noexcept {
  log(LogLevel::Debug, message, fields);
}
inline void log_info(std::string_view message, LogFields fields = {}) noexcept {
  log(LogLevel::Info, message, fields);
}
inline void log_warning(std::string_view message, LogFields fields = {}) noexcept {
  log(LogLevel::Warning, message, fields);
}
inline void log_error(std::string_view message, LogFields fields = {}) noexcept {
  log(LogLevel::Error, message, fields);
}

// Logs at most one line a minute for each `site`. A site names the place in the program and the
// case; it is one of a fixed set, never text from outside.
void log_warning_limited(std::string_view site, std::string_view message,
                         LogFields fields = {}) noexcept;

}  // namespace offcpud
