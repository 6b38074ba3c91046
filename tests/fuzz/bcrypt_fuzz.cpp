// SPDX-License-Identifier: Apache-2.0
// Hashes of passwords as a file may hold them. Only the cheapest is compared.
#include <crypt.h>

#include <cstring>

#include "config/web_config_keys.h"
#include "fuzz.h"
#include "http/password_checker.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  const std::string hash(take_text(in));
  const std::string password(take_text(in));
  const auto accepted = check_bcrypt(hash);
  if (!accepted) {
    const std::string& why = accepted.error().message();
    return require(why == check_bcrypt("x").error().message() || why.starts_with("has cost "),
                   "an error does not repeat the hash");
  }
  require(hash.size() == 60 && hash.starts_with("$2"), "a hash has its form");
  if (hash.substr(4, 2) != "04") return;
  crypt_data data{};
  const char* const expected = ::crypt_r(password.c_str(), hash.c_str(), &data);
  const bool right =
      expected != nullptr && hash == expected && password.find('\0') == std::string::npos;
  require(matches_bcrypt(password, hash) == right, "a password is right if crypt(3) says so");
}

std::vector<std::string> seeds() {
  const std::string hash = "$2y$04$lB5ty6zqiwCQCFO0E1NmR.nRNJQkGKlPBPmSJNyXcQ1PfaTZsKbxu";
  return {as_input({hash, "secret"}), as_input({hash, ""}), as_input({"$2b$31$", "x"}),
          as_input({"$6$salt$hash", "x"}), as_input({hash.substr(0, 59), "x"})};
}

}  // namespace offcpud::fuzz
