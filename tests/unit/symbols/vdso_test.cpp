// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <string>

#include "symbols/elf_symbols.h"

namespace offcpud {
namespace {

// The dynamic linker is the independent source of where functions of the vDSO are.
TEST(Vdso, NamesWhatTheDynamicLinkerFindsThere) {
  const unsigned long start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) GTEST_SKIP() << "the kernel maps no vDSO";
  void* const vdso = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (vdso == nullptr) GTEST_SKIP() << "the vDSO has another name here";
  const auto symbols = ElfSymbols::read_vdso();
  ASSERT_TRUE(symbols) << symbols.error().message();
  for (const char* name : {"clock_gettime", "gettimeofday", "getcpu"}) {
    const void* const function = ::dlsym(vdso, ("__vdso_" + std::string(name)).c_str());
    ASSERT_NE(function, nullptr) << name;
    const auto address = symbols->address_of(reinterpret_cast<std::uint64_t>(function) - start);
    ASSERT_TRUE(address) << name;
    const auto found = symbols->functions().find(*address + 1);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, name);
  }
  (void)::dlclose(vdso);
}

}  // namespace
}  // namespace offcpud
