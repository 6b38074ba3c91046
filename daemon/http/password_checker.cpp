// SPDX-License-Identifier: Apache-2.0
#include "http/password_checker.h"

#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <strings.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/thread_start.h"

namespace offcpud {
namespace {

constexpr ShareOwner kAllPeers;

MonotonicTime steady_now() {
  return std::chrono::steady_clock::now();
}

std::array<std::uint8_t, 32> random_key() {
  std::array<std::uint8_t, 32> key{};
  // Fails only if the kernel has no random numbers; then nothing is remembered, see digest_of.
  (void)gnutls_rnd(GNUTLS_RND_KEY, key.data(), key.size());
  return key;
}

// The length keeps "ab" + "c" and "a" + "bc" apart.
void append_part(std::string& text, std::string_view part) {
  text += std::to_string(part.size());
  text += ':';
  text += part;
}

void forget_password(PasswordJob& job) {
  std::string& password = job.credentials.password;
  gnutls_memset(password.data(), 0, password.size());
  password.clear();
}

}  // namespace

bool matches_bcrypt(const std::string& password, const std::string& hash) {
  if (password.find('\0') != std::string::npos) return false;
  const auto workspace = std::make_unique<crypt_data>();  // 32 KiB
  const char* const made = ::crypt_r(password.c_str(), hash.c_str(), workspace.get());
  const bool right = made != nullptr && std::string_view(made).size() == hash.size() &&
                     gnutls_memcmp(made, hash.data(), hash.size()) == 0;
  gnutls_memset(workspace.get(), 0, sizeof(crypt_data));
  return right;
}

PasswordChecker::PasswordChecker(std::shared_ptr<Heartbeat> heartbeat,
                                 const CpuShares::Limits& budget)
    : heartbeat_(std::move(heartbeat)),
      key_(random_key()),
      budget_(budget),
      thread_(start_thread("offcpud-passwd", [this](const std::stop_token& stop) { run(stop); })) {}

PasswordChecker::Digest PasswordChecker::digest_of(const Credentials& credentials,
                                                   const std::string& hash) const {
  std::string text;
  append_part(text, credentials.user);
  append_part(text, hash);
  append_part(text, credentials.password);
  Digest digest{};
  const int code = gnutls_hmac_fast(GNUTLS_MAC_SHA256, key_.data(), key_.size(), text.data(),
                                    text.size(), digest.data());
  gnutls_memset(text.data(), 0, text.size());
  if (code != 0) (void)gnutls_rnd(GNUTLS_RND_NONCE, digest.data(), digest.size());
  return digest;
}

bool PasswordChecker::remembers(const Credentials& credentials, const std::string& hash) {
  const Digest digest = digest_of(credentials, hash);
  const std::lock_guard lock(mutex_);
  const auto found = right_.find(credentials.user);
  return found != right_.end() &&
         gnutls_memcmp(found->second.data(), digest.data(), digest.size()) == 0;
}

void PasswordChecker::check(PasswordJob job) {
  std::optional<PasswordJob> given_up;
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    const MonotonicTime now = steady_now();
    is_awaited = jobs_.empty() || jobs_.trusts(job.peer, now);
    given_up = jobs_.push(std::move(job), now);
  }
  if (is_awaited) changed_.notify_one();
  if (!given_up) return;
  forget_password(*given_up);
  given_up->done(PasswordVerdict::GivenUp);
}

// Several requests with the same new password need only one comparison.
bool PasswordChecker::is_right(const PasswordJob& job) {
  if (job.known && remembers(job.credentials, job.hash)) return true;
  const bool equal = matches_bcrypt(job.credentials.password, job.hash);
  if (!equal || !job.known) return false;
  const Digest digest = digest_of(job.credentials, job.hash);
  const std::lock_guard lock(mutex_);
  right_.insert_or_assign(job.credentials.user, digest);
  return true;
}

// Waits until a comparison may start. False: a stop was requested.
bool PasswordChecker::await_turn(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); }) && !stop.stop_requested()) {
    const MonotonicTime now = steady_now();
    const MonotonicTime from = budget_.next_time(kAllPeers, now);
    if (from <= now || jobs_.next_is_trusted(now)) return true;
    changed_.wait_until(lock, stop, from, [this] { return jobs_.next_is_trusted(steady_now()); });
  }
  return false;
}

void PasswordChecker::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (await_turn(lock, stop)) {
    const MonotonicTime begin = steady_now();
    const bool is_free = jobs_.next_is_trusted(begin);
    PasswordJob job = jobs_.pop(begin);
    lock.unlock();
    const PieceOfWork piece(heartbeat_, "comparing a password");
    const std::chrono::nanoseconds before = thread_cpu_time();
    const bool right = is_right(job);
    forget_password(job);
    lock.lock();
    const MonotonicTime end = steady_now();
    if (!is_free) budget_.spend(kAllPeers, thread_cpu_time() - before, end);
    jobs_.settle(job.peer, job.credentials.user, right, end);
    lock.unlock();
    job.done(right ? PasswordVerdict::Right : PasswordVerdict::Wrong);
    job = {};
    lock.lock();
  }
}

Result<Credentials> parse_basic_authorization(const std::string& header) {
  constexpr std::string_view kScheme = "Basic ";
  const Error malformed("not a user and a password of the scheme Basic", ErrorKind::Usage);
  if (header.size() < kScheme.size() ||
      ::strncasecmp(header.data(), kScheme.data(), kScheme.size()) != 0) {
    return malformed;
  }
  std::string_view encoded(header);
  encoded.remove_prefix(encoded.find_first_not_of(' ', kScheme.size() - 1) == std::string::npos
                            ? encoded.size()
                            : encoded.find_first_not_of(' ', kScheme.size() - 1));
  std::string writable(encoded);  // the library wants a pointer to non-const bytes
  const gnutls_datum_t text{reinterpret_cast<unsigned char*>(writable.data()),
                            static_cast<unsigned>(writable.size())};
  gnutls_datum_t decoded{};
  if (writable.empty() || gnutls_base64_decode2(&text, &decoded) != 0) return malformed;
  std::string pair(reinterpret_cast<const char*>(decoded.data), decoded.size);
  gnutls_memset(decoded.data, 0, decoded.size);
  gnutls_free(decoded.data);
  const std::size_t colon = pair.find(':');
  if (colon == std::string::npos) return malformed;
  return Credentials{pair.substr(0, colon), pair.substr(colon + 1)};
}

}  // namespace offcpud
