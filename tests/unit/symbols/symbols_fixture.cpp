// SPDX-License-Identifier: Apache-2.0
// What the tests of symbols read the symbols of: functions of C and C++, exported, local and nested
// in templates and namespaces.
#include <unistd.h>

#include <cstdlib>
#include <vector>

extern "C" [[gnu::noinline]] int c_function(int seconds) {
  return static_cast<int>(::sleep(static_cast<unsigned>(seconds)));
}

namespace app {
namespace {

[[gnu::noinline]] int local_function(int value) {
  return c_function(value) + 1;
}

}  // namespace

template <class T>
struct Pool {
  template <class U>
  [[gnu::noinline]] int wait(U value) const {
    return local_function(static_cast<int>(value)) + static_cast<int>(items.size());
  }
  T items;
};

}  // namespace app

int main(int argc, char** argv) {
  const app::Pool<std::vector<int>> pool{};
  return pool.wait(argc > 1 ? std::atol(argv[1]) : 0L);  // NOLINT(cert-err34-c)
}
