// SPDX-License-Identifier: Apache-2.0
// Which separate debug file an object leads to: never one outside of its root.
#include <unistd.h>

#include <climits>

#include "fuzz.h"
#include "objects.h"
#include "support/temp_tree.h"
#include "symbols/debug_file.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

constexpr const char* kId = "\xab\xcd\xef\x01";

struct Host {
  Host() {
    const std::string debug = elf_image({{".note.gnu.build-id", build_id_note(kId)}});
    tree.put({{"outside.debug", debug},
              {"root/outside.debug", debug},
              {"root/opt/app/other.debug", debug},
              {"root/opt/app/.debug/app.debug", debug},
              {"root/usr/lib/debug/opt/app/far.debug", debug},
              {"root/usr/lib/debug/.build-id/ab/cdef01.debug", debug}});
    tree.put_link("root/opt/app/up", "../../../../../../outside.debug");
    tree.put_link("root/opt/app/absolute", (tree.root() / "outside.debug").native());
    tree.put_link("root/opt/links", "../../..");
    auto opened = RootDirectory::open(tree.root() / "root");
    require(static_cast<bool>(opened), "the root is opened");
    root.emplace(*std::move(opened));
  }
  TempTree tree;
  std::optional<RootDirectory> root;
};

}  // namespace

void test(std::string_view input) {
  static const Host host;
  ByteReader reader(bytes_of(input));
  const std::string note = build_id_note(take_text(reader));
  const std::string link(take_text(reader));
  const std::string path(take_text(reader));
  const std::string image = elf_image({{".note.gnu.build-id", note}, {".gnu_debuglink", link}});
  const ByteSource source(image);
  const auto object = ElfFile::read(source);
  require(static_cast<bool>(object), "the object is read");
  const FileAuthor author{{.owner = ::geteuid(), .mode = 0755}, false};
  const auto found = find_debug_file(*object, author, path, *host.root);
  if (!found) return;
  char name[PATH_MAX] = {};
  const std::string fd = "/proc/self/fd/" + std::to_string(found->get());
  require(::readlink(fd.c_str(), name, sizeof name - 1) > 0, "it is open");
  require(std::string_view(name).starts_with((host.tree.root() / "root/").native()),
          "it is below the root");
  require(object->build_id() == kId, "it is that of the object");
}

std::vector<std::string> seeds() {
  const std::string zero(1, '\0');
  std::vector<std::string> all;
  for (const char* link : {"app.debug", "other.debug", "far.debug", "up", "absolute", "..", "."}) {
    all.push_back(as_input({kId, link + zero + "\1\2\3\4", "/opt/app/app"}));
  }
  all.push_back(as_input({kId, "outside.debug" + zero, "/opt/links/app"}));
  all.push_back(as_input({"\x11\x22", "outside.debug" + zero, "/../../x"}));
  all.push_back(as_input({kId, "x", "/"}));
  return all;
}

}  // namespace offcpud::fuzz
