// SPDX-License-Identifier: Apache-2.0
#include "unwind/content_key.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

namespace offcpud {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

void append(std::vector<std::uint8_t>& bytes, std::uint64_t word) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  }
}

}  // namespace

Result<ContentKeys> ContentKeys::with_random_secret() {
  ContentKeys keys;
  if (::getrandom(keys.secret_.data(), sizeof keys.secret_, 0) != sizeof keys.secret_) {
    return Error::from_errno(errno, "getrandom");
  }
  return keys;
}

std::uint64_t ContentKeys::hash(Bytes bytes) const {
  SipState state{secret_[0] ^ 0x736f6d6570736575, secret_[1] ^ 0x646f72616e646f6d,
                 secret_[0] ^ 0x6c7967656e657261, secret_[1] ^ 0x7465646279746573};
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof word);
    state.absorb(word);
  }
  std::uint64_t last = std::uint64_t{bytes.size()} << 56;
  for (int shift = 0; at < bytes.size(); ++at, shift += 8) {
    last |= std::uint64_t{bytes[at]} << shift;
  }
  state.absorb(last);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::uint64_t ContentKeys::key_of(const ElfObject& object) const {
  std::vector<std::uint8_t> frame;
  append(frame, hash(object.eh_frame));
  append(frame, object.eh_frame_address);
  append(frame, object.exact_size ? 1 : 0);
  append(frame, hash(object.go_table));
  append(frame, object.go_program.text);
  append(frame, object.go_program.entry);
  for (const ExecutableSegment& segment : object.segments) {
    append(frame, segment.file_offset);
    append(frame, segment.address);
    append(frame, segment.size);
  }
  return hash(frame);
}

}  // namespace offcpud
