# SPDX-License-Identifier: Apache-2.0
"""tests/lint/types finds what it is there for, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TYPES = pathlib.Path(__file__).with_name("types")


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TYPES, root], capture_output=True, text=True)
    return done.returncode, done.stdout


class TypesTest(unittest.TestCase):
    def expect_twins(self, name, one, other, folders=("daemon/kernel/a.h", "daemon/mappings/b.h")):
        status, said = check(dict(zip(folders, (one, other))))
        self.assertEqual(status, 1, said)
        self.assertIn(f"{name} is defined in several files", said)
        for folder in folders:
            self.assertIn(folder + ":", said)

    def expect_clean(self, one, other, folders=("daemon/kernel/a.h", "daemon/mappings/b.cpp")):
        status, said = check(dict(zip(folders, (one, other))))
        self.assertEqual((status, said), (0, ""))

    def test_two_classes_of_one_name_are_told_with_their_places(self):
        self.expect_twins(
            "offcpud::Reader",
            "namespace offcpud {\nclass Reader { int a; };\n}\n",
            "namespace offcpud {\n// comment {\nclass Reader final : public Other<int> { int b; };\n}\n",
        )

    def test_kinds_of_type_share_their_names(self):
        self.expect_twins(
            "offcpud::deep::Kind",
            "namespace offcpud::deep { enum class Kind : int { A }; }",
            "namespace offcpud { namespace deep { template <class T> struct alignas(8) Kind { T a; }; } }",
        )

    def test_nested_types_of_a_twin_in_a_cpp_file_are_told(self):
        self.expect_twins(
            "offcpud::Reader::Shared",
            "namespace offcpud { class Reader { struct Shared; }; }\n"
            "namespace offcpud { struct Reader::Shared { int a; }; }",
            "namespace offcpud { struct Reader::Shared { char a; }; }",
        )

    def test_a_twin_in_the_tests_of_the_daemon_is_told(self):
        self.expect_twins(
            "offcpud::Reader",
            "namespace offcpud { struct Reader {}; }",
            "namespace offcpud { struct Reader {}; }",
            ("daemon/a.h", "tests/unit/a_test.cpp"),
        )

    def test_what_the_linker_does_not_see_is_left_alone(self):
        self.expect_clean(
            "namespace offcpud { struct Reader { struct Part {}; }; class Declared; }",
            "namespace offcpud { namespace { struct Reader {}; } class Declared;\n"
            'void f() { struct Part {}; const char* text = "struct Reader {";  }\n'
            "struct Other { struct Part {}; }; /* struct Reader {}; */ }",
        )

    def test_functions_and_variables_of_a_type_are_no_definitions(self):
        self.expect_clean(
            "namespace offcpud { struct Reader {}; template <class T> struct Hash {}; }",
            "namespace offcpud { struct Reader make(struct Reader r) { return r; }\n"
            "struct Reader one {}; template <> struct Hash<int> {}; struct Reader two = {}; }",
        )

    def test_programs_of_their_own_may_share_names(self):
        self.expect_clean(
            "struct Options {};", "struct Options {};", ("daemon/a.h", "tests/workloads/a.cpp")
        )

    def test_an_empty_tree_is_an_error(self):
        self.assertEqual(check({})[0], 1)


if __name__ == "__main__":
    unittest.main()
