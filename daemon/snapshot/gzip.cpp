// SPDX-License-Identifier: Apache-2.0
#include "snapshot/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace offcpud {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;
constexpr int kMemory = 8;              // zlib's default
constexpr std::size_t kFirstGuess = 4;  // usual ratio of compression
constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max();

struct Deflate {
  z_stream stream{};
  ~Deflate() { (void)::deflateEnd(&stream); }
};

struct Inflate {
  z_stream stream{};
  ~Inflate() { (void)::inflateEnd(&stream); }
};

void set_input(z_stream& stream, std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): zlib only reads it
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
}

void set_output(z_stream& stream, std::string& out, std::size_t from) {
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + from);
  stream.avail_out = static_cast<uInt>(out.size() - from);
}

}  // namespace

Result<std::string> gzip(std::string_view bytes) {
  if (bytes.size() > kMostAtOnce) return Error("compress: too much at once");
  Deflate deflate;
  if (::deflateInit2(&deflate.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error("compress: no memory");
  }
  std::string out(::deflateBound(&deflate.stream, static_cast<uLong>(bytes.size())), '\0');
  set_input(deflate.stream, bytes);
  set_output(deflate.stream, out, 0);
  if (::deflate(&deflate.stream, Z_FINISH) != Z_STREAM_END) return Error("compress: zlib failed");
  out.resize(deflate.stream.total_out);
  out.shrink_to_fit();
  return out;
}

Result<std::string> gunzip(std::string_view compressed, std::size_t limit) {
  if (compressed.size() > kMostAtOnce || limit > kMostAtOnce) {
    return Error("decompress: too much at once");
  }
  Inflate inflate;
  if (::inflateInit2(&inflate.stream, kGzip) != Z_OK) return Error("decompress: no memory");
  set_input(inflate.stream, compressed);
  std::string out;
  for (;;) {
    const std::size_t done = out.size();
    const std::size_t wanted = std::max(compressed.size() * kFirstGuess, done * 2);
    out.resize(std::min(std::max<std::size_t>(wanted, 1'024), limit + 1));
    set_output(inflate.stream, out, done);
    const int code = ::inflate(&inflate.stream, Z_NO_FLUSH);
    out.resize(inflate.stream.total_out);
    if (out.size() > limit) {
      return Error("decompress: larger than the limit of " + std::to_string(limit) + " bytes");
    }
    if (code == Z_STREAM_END) break;
    if (code != Z_OK) return Error("decompress: damaged, or not gzip");
    if (inflate.stream.avail_in == 0 && inflate.stream.avail_out != 0) {
      return Error("decompress: the end is missing");
    }
  }
  if (inflate.stream.avail_in != 0) return Error("decompress: something follows the end");
  return out;
}

}  // namespace offcpud
