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

// The names of the option log_level: trace, debug, info, warning, error.
std::optional<LogLevel> parse_log_level(std::string_view name);

// One structured value beside the message. The journal gets it as OFFCPUD_<NAME>, a terminal as
// name=value unless the message contains the value. Names are lower case letters, digits and
// underscores.
struct LogField {
  std::string_view name;
  std::string value;
};

// Name of the field that becomes the journal's MESSAGE_ID (32 hexadecimal digits) and that a
// terminal does not show.
inline constexpr std::string_view kMessageId = "message_id";

// The fields of one line: written in braces, or a vector. Refers to them, so it is a parameter and
// nothing else.
class LogFields {
 public:
  LogFields() = default;
  LogFields(std::initializer_list<LogField> fields)  // NOLINT(*-explicit-*): as it is written
      : fields_(fields.begin(), fields.size()) {}
  LogFields(const std::vector<LogField>& fields) : fields_(fields) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::span<const LogField> fields_;
};

// Logs to the journal when standard error is connected to it, else to standard error. Before this
// call lines go to standard error at level info. Called once, before other threads start.
void init_logging(LogLevel level);

// From any thread, at any time.
void set_log_level(LogLevel level);

// Thread-safe. Nothing that goes wrong while logging reaches the caller.
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

// At most one line a minute for each `site`, which names the place and its case: one of a fixed
// set, never a text from outside.
void log_warning_limited(std::string_view site, std::string_view message,
                         LogFields fields = {}) noexcept;

}  // namespace offcpud
