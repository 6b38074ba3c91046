// SPDX-License-Identifier: Apache-2.0
// The ELF file within .gnu_debugdata. Mutations of compressed bytes reach nothing but liblzma, so
// most inputs are what is compressed.
#include <lzma.h>

#include "fuzz.h"
#include "objects.h"
#include "symbols/elf_symbols.h"

namespace offcpud::fuzz {
namespace {

std::string xz(std::string_view plain) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 0);
  options.dict_size = 64 << 10;  // the usual one takes milliseconds to allocate
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string packed(lzma_stream_buffer_bound(plain.size()), '\0');
  std::size_t size = 0;
  const lzma_ret done = lzma_stream_buffer_encode(
      const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC32, nullptr,
      reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size(),
      reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size());
  require(done == LZMA_OK, "xz takes any bytes");
  packed.resize(size);
  return packed;
}

}  // namespace

void test(std::string_view input) {
  const bool raw = input.starts_with('R');
  const std::string_view rest = input.substr(std::min<std::size_t>(1, input.size()));
  const std::string image = elf_image({{".gnu_debugdata", raw ? std::string(rest) : xz(rest)}});
  const auto symbols = ElfSymbols::read_image(image);
  require(static_cast<bool>(symbols), "the file around it is read");
  require(symbols->bytes() < (std::size_t{64} << 20), "what is kept is bounded");
  for (std::uint64_t address = 0; address < 0x8000; address += 0x75) {
    (void)symbols->functions().find(address);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const std::string& object : small_objects(40'000, 20)) all.push_back("x" + object);
  all.push_back("x" + vdso_image());
  all.push_back("R" + xz(vdso_image()));
  all.push_back("R" + xz(std::string(1 << 20, '\0')));
  return all;
}

}  // namespace offcpud::fuzz
