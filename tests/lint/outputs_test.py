# SPDX-License-Identifier: Apache-2.0
"""tests/lint/outputs finds what a build or a test run makes, if it is in the repository, and nothing else."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

OUTPUTS = pathlib.Path(__file__).with_name("outputs")


@unittest.skipUnless(shutil.which("git"), "there is no git")
class OutputsTest(unittest.TestCase):
    def said(self, kept, others=()):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path in (*kept, *others):
                root.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
                root.joinpath(path).write_text("")
            subprocess.run(["git", "init", "-q", root], check=True)
            if kept:
                subprocess.run(["git", "-C", root, "add", "-f", *kept], check=True)
            run = subprocess.run([OUTPUTS, root], stdout=subprocess.PIPE, text=True)
        return run.returncode, run.stdout

    def test_sources_are_none(self):
        kept = ("daemon/build_info.h", "tests/run", "docs/building.md", "packaging/build-deb", "a.core.cpp")
        self.assertEqual(self.said(kept), (0, ""))

    def test_what_is_not_kept_does_not_matter(self):
        self.assertEqual(self.said(["tests/run"], ["tests/__pycache__/a.cpython-311.pyc", "build-test/a.o"]), (0, ""))

    def test_each_kind(self):
        for path in ("tests/a.pyc", "tests/__pycache__/a", "build-test/plain/x", "daemon/main.o", "lib/liba.so.1",
                     "sub/CMakeCache.txt", "sub/CMakeFiles/x", "sub/.ninja_log"):
            code, text = self.said(["tests/run", path])
            self.assertEqual(code, 1, path)
            self.assertIn(path, text)
            self.assertNotIn("tests/run", text)

    def test_an_empty_repository_is_a_mistake(self):
        self.assertEqual(self.said([])[0], 1)

    def test_without_a_checkout_it_says_so(self):
        with tempfile.TemporaryDirectory() as name:
            run = subprocess.run([OUTPUTS, name], stdout=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 0)
        self.assertIn("not checked", run.stdout)


if __name__ == "__main__":
    unittest.main()
