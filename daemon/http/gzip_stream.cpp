// SPDX-License-Identifier: Apache-2.0
#include "http/gzip_stream.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

namespace offcpud {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;
constexpr int kMemory = 8;  // zlib's own default
constexpr std::size_t kBlock = std::size_t{64} * 1024;

class Compressor {
 public:
  explicit Compressor(BodyStream plain) : plain_(std::move(plain)), block_(kBlock) {
    if (::deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw std::runtime_error("compress: no memory");
    }
  }
  ~Compressor() { (void)::deflateEnd(&stream_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  std::size_t read(std::span<char> buffer) {
    if (done_ || buffer.empty()) return 0;
    const std::size_t size = std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(size);
    // Goes on until the buffer is full or the body ends: returning 0 would end the body.
    while (stream_.avail_out > 0 && !done_) {
      if (stream_.avail_in == 0 && !plain_over_) refill();
      const int code = ::deflate(&stream_, plain_over_ ? Z_FINISH : Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END) throw std::runtime_error("compress: zlib failed");
      done_ = code == Z_STREAM_END;
    }
    return size - stream_.avail_out;
  }

 private:
  void refill() {
    const std::size_t n = plain_(block_);
    plain_over_ = n == 0;
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
    stream_.avail_in = static_cast<uInt>(n);
  }

  BodyStream plain_;
  std::vector<char> block_;
  z_stream stream_{};
  bool plain_over_ = false;
  bool done_ = false;
};

}  // namespace

BodyStream gzip_stream(BodyStream plain) {
  auto compressor = std::make_shared<Compressor>(std::move(plain));
  return [compressor](std::span<char> buffer) { return compressor->read(buffer); };
}

}  // namespace offcpud
