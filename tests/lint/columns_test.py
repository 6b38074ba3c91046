# SPDX-License-Identifier: Apache-2.0
"""tests/lint/columns finds wide lines of prose, and leaves tables and code alone."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COLUMNS = pathlib.Path(__file__).with_name("columns")


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, COLUMNS, root], capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout


class ColumnsTest(unittest.TestCase):
    def test_a_wide_line_is_told_with_its_place(self):
        status, said = check({"docs/a.md": "one\n" + "é" * 120 + "\n"})
        self.assertEqual(status, 1)
        self.assertEqual(said, "docs/a.md:2 has 120 columns: fold it\n")

    def test_119_columns_are_allowed_in_characters_not_bytes(self):
        self.assertEqual(check({"docs/a.md": "é" * 119 + "\n"}), (0, ""))

    def test_tables_and_code_may_be_wide_but_not_what_follows(self):
        wide = "x" * 200
        text = f"| {wide} |\n\n- a\n\n  ```sh\n  {wide}\n  ```\n"
        self.assertEqual(check({"a.md": text}), (0, ""))
        self.assertIn("a.md:8 has 200", check({"a.md": text + wide})[1])

    def test_readme_has_less_room(self):
        self.assertEqual(check({"README.md": ("x" * 110 + "\n") * 120}), (0, ""))
        self.assertIn("README.md:1 has 111", check({"README.md": "x" * 111})[1])
        self.assertIn("README.md has 121 lines", check({"README.md": "x\n" * 121})[1])

    def test_what_a_build_made_does_not_matter(self):
        self.assertEqual(check({"a.md": "x", "build-test/a.md": "x" * 200, ".git/a.md": "x" * 200}), (0, ""))

    def test_an_empty_tree_is_an_error(self):
        self.assertEqual(check({})[0], 1)


if __name__ == "__main__":
    unittest.main()
