// SPDX-License-Identifier: Apache-2.0
#include "runtime/logging.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "runtime/journal.h"
#include "runtime/rate_limited.h"

namespace offcpud {
namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 5> kLevelNames{{
    {"trace", LogLevel::Trace},
    {"debug", LogLevel::Debug},
    {"info", LogLevel::Info},
    {"warning", LogLevel::Warning},
    {"error", LogLevel::Error},
}};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Trace:
      return spdlog::level::trace;
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// Numbers of syslog(3).
int journal_priority(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return 7;
    case spdlog::level::info:
      return 6;
    case spdlog::level::warn:
      return 4;
    default:
      return 3;
  }
}

// Passes the fields of the current line to the journal: spdlog has no fields, but it runs its sinks
// inside log(), on the caller's thread.
thread_local const LogFields* fields_of_this_line = nullptr;

class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    const LogFields none;
    send_to_journal(journal_priority(line.level), {line.payload.data(), line.payload.size()},
                    fields_of_this_line != nullptr ? *fields_of_this_line : none);
  }
  void flush_() override {}
};

spdlog::sink_ptr make_sink(bool to_journal) {
  if (to_journal) return std::make_shared<JournalSink>();
  // The default of this sink: colours only on a terminal that supports them.
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%-7l%$ %v");
  return sink;
}

struct Log {
  explicit Log(bool to_journal) : journal(to_journal), logger("offcpud", make_sink(to_journal)) {
    // The default handler would print to standard error, which has just failed.
    logger.set_error_handler([](const std::string&) {});
    logger.flush_on(spdlog::level::trace);
  }

  bool journal;
  spdlog::logger logger;
};

std::unique_ptr<Log>& current() {
  static auto log = std::make_unique<Log>(/*to_journal=*/false);
  return log;
}

std::string with_fields(std::string_view message, LogFields fields) {
  std::string line(message);
  for (const auto& [name, value] : fields) {
    // The message already contains these.
    if (name == kMessageId || message.find(value) != std::string_view::npos) continue;
    line.append(" ").append(name).append("=").append(value);
  }
  return line;
}

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view name) {
  for (const auto& [known, level] : kLevelNames) {
    if (name == known) return level;
  }
  return std::nullopt;
}

void init_logging(LogLevel level) {
  current() =
      std::make_unique<Log>(is_journal_stream(STDERR_FILENO, std::getenv("JOURNAL_STREAM")));
  set_log_level(level);
}

void set_log_level(LogLevel level) {
  current()->logger.set_level(to_spdlog(level));
}

void log(LogLevel level, std::string_view message, LogFields fields) noexcept {
  try {
    Log& log = *current();
    if (!log.logger.should_log(to_spdlog(level))) return;
    fields_of_this_line = &fields;
    // "{}" keeps braces in the message literal.
    log.logger.log(to_spdlog(level), "{}", log.journal ? message : with_fields(message, fields));
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing is left to report it to
  }
  fields_of_this_line = nullptr;
}

void log_warning_limited(std::string_view site, std::string_view message,
                         LogFields fields) noexcept {
  try {
    static const SystemClock clock;
    static RateLimited limit(clock);
    if (const auto line = limit.admit(site, message)) log_warning(*line, fields);
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory, and nothing to report it to
  }
}

}  // namespace offcpud
