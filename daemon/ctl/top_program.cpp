// SPDX-License-Identifier: Apache-2.0
#include "ctl/top_program.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>
#include <variant>

#include "base/unique_handle.h"
#include "ctl/http_get.h"
#include "ctl/status_text.h"
#include "ctl/terminal_screen.h"
#include "ctl/top_fetcher.h"
#include "ctl/top_state.h"
#include "ctl/top_table.h"

namespace offcpud {
namespace {

using std::chrono::steady_clock;

Result<UniqueFd> open_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) ::sigaddset(&signals, signal);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) {
    return Error::from_errno(errno, "block signals");
  }
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return Error::from_errno(errno, "create a signalfd");
  return fd;
}

// The main loop of the program and what it uses.
class TopLoop {
 public:
  TopLoop(const TopProgramOptions& options, UniqueFd signals, TopFetcher& fetcher,
          TerminalScreen& screen)
      : options_(options),
        signals_(std::move(signals)),
        fetcher_(fetcher),
        screen_(screen),
        state_(options.request) {}

  Status run() {
    ask();
    draw();
    while (running_) {
      TRY_VOID(wait());
    }
    return {};
  }

 private:
  Status wait() {
    std::array<pollfd, 3> fds = {
        {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}, {fetcher_.fd(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - steady_clock::now());
    const auto patience = std::clamp<std::int64_t>(left.count(), 0, 3'600'000);
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(patience));
    if (ready < 0 && errno != EINTR) return Error::from_errno(errno, "wait for the terminal");
    if (ready > 0) {
      if ((fds[1].revents & POLLIN) != 0) take_signals();
      if ((fds[0].revents & POLLIN) != 0) take_keys();
      if ((fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) running_ = false;
      if ((fds[2].revents & POLLIN) != 0) take_answer();
    }
    if (running_ && steady_clock::now() >= next_) ask();
    return {};
  }

  void take_signals() {
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal)) {
      if (signal.ssi_signo != SIGWINCH) {
        running_ = false;
        return;
      }
      screen_.resize();
      ask();  // there may be room for more rows
      draw();
    }
  }

  void take_keys() {
    bool pressed = false;
    while (const auto key = screen_.key()) {
      pressed = true;
      const TopEffect effect = state_.press(*key, page());
      if (effect == TopEffect::Quit) {
        running_ = false;
        return;
      }
      if (effect == TopEffect::Ask) ask();
      if (effect == TopEffect::AskForStacks) fetcher_.ask(state_.path_of_stacks());
      if (effect != TopEffect::None) draw();
    }
    // A terminal that is readable but has no key is closed.
    silent_ = pressed ? 0 : silent_ + 1;
    if (silent_ > kMostSilent) running_ = false;
  }

  void take_answer() {
    auto answer = fetcher_.take();
    if (!answer) return;
    if (!*answer) {
      state_.take(answer->error());
    } else {
      std::visit([this](auto reply) { state_.take(std::move(reply)); }, **std::move(answer));
    }
    draw();
  }

  void ask() {
    if (!state_.shows_stacks()) fetcher_.ask(state_.request(page()).path());
    next_ = steady_clock::now() + options_.interval;
  }

  void draw() {
    screen_.show(state_.screen(options_.server_text, screen_.lines(), screen_.columns()));
  }

  [[nodiscard]] std::size_t page() const { return TopState::page_of(screen_.lines()); }

  static constexpr int kMostSilent = 100;  // also readable without a key: half a key sequence

  const TopProgramOptions& options_;
  UniqueFd signals_;
  TopFetcher& fetcher_;
  TerminalScreen& screen_;
  TopState state_;
  steady_clock::time_point next_;
  bool running_ = true;
  int silent_ = 0;
};

}  // namespace

Status run_top(const TopProgramOptions& options) {
  TRY(auto signals, open_signals());
  TRY(const auto fetcher, TopFetcher::start(options.server, options.server_text));
  // Declared after the fetcher, so destroyed first: restoring the terminal does not wait
  // for the daemon.
  TRY(const auto screen, TerminalScreen::open());
  return TopLoop(options, std::move(signals), *fetcher, *screen).run();
}

Result<std::string> top_once(const TopProgramOptions& options, bool json, std::size_t width) {
  TRY(const auto answer, http_get(options.server, options.request.path()));
  if (answer.status != 200) return refused(options.server_text, answer);
  auto top = parse_top_answer(answer.body);
  if (!top) return std::move(top).error().with(options.server_text);
  if (json) return answer.body.ends_with('\n') ? answer.body : answer.body + "\n";
  return top_text(top_table(*top, options.server_text, width, options.request));
}

std::size_t output_width() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kAnyWidth;
}

}  // namespace offcpud
