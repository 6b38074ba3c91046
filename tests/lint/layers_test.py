# SPDX-License-Identifier: Apache-2.0
"""tests/lint/layers finds what it is there for, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

LAYERS = pathlib.Path(__file__).with_name("layers")
TABLE = """
## Folders and libraries

| folder | what it is | may use | libraries |
|---|---|---|---|
| `base` | errors | | |
| `low` | below | bpf | zlib |
| `high` | above | low | |
| `bpf` | programs | | |

## Threads
"""


# All that the table allows is used.
USES = {
    "daemon/high/uses.cpp": '#include "low/b.h"\n',
    "daemon/low/uses.cpp": '#include "sample.h"\n#include <zlib.h>\n',
}


class LayersTest(unittest.TestCase):
    def said(self, files=(), table=TABLE, folders=("base", "low", "high"), uses=USES):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for folder in folders:
                root.joinpath("daemon", folder).mkdir(parents=True)
            all_files = {"docs/architecture.md": table, "bpf/sample.h": "", "daemon/daemon.h": "", **uses}
            for path, text in {**all_files, **dict(files)}.items():
                root.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
                root.joinpath(path).write_text(text)
            done = subprocess.run([sys.executable, LAYERS, root], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1 if done.stdout else 0, done.stderr)
        return done.stdout.splitlines()

    def test_what_the_rows_allow_is_allowed(self):
        files = {
            "daemon/high/a.cpp": '#include "base/result.h"\n#include "high/a.h"\n#include "low/b.h"\n',
            "daemon/low/b.h": '#include <sys/stat.h>\n#include <vector>\n#include <zlib.h>\n#include "sample.h"\n',
            "daemon/main.cpp": '#include <zlib.h>\n#include "high/a.h"\n',
        }
        self.assertEqual(self.said(files), [])

    def test_an_include_against_the_layers_is_told_with_its_file(self):
        self.assertEqual(
            self.said({"daemon/low/b.h": '#include "high/a.h"\n'}),
            ["daemon/low/b.h includes high/a.h: low may not use high"],
        )

    def test_what_is_allowed_below_is_not_allowed_above(self):
        self.assertEqual(
            self.said({"daemon/high/a.cpp": '#include "sample.h"\n#include <zlib.h>\n'}),
            [
                "daemon/high/a.cpp includes sample.h: high may not use bpf",
                "daemon/high/a.cpp includes zlib.h: high may not use zlib",
            ],
        )

    def test_a_library_that_no_row_names_is_told(self):
        self.assertEqual(
            self.said({"daemon/base/a.h": "#  include <curl/curl.h>\n"}),
            ["daemon/base/a.h includes curl/curl.h: base may not use curl"],
        )

    def test_headers_of_the_daemon_itself_are_for_its_own_files_alone(self):
        self.assertEqual(self.said({"daemon/main.cpp": '#include "daemon.h"\n'}), [])
        self.assertEqual(
            self.said({"daemon/high/a.cpp": '#include "daemon.h"\n'}),
            ["daemon/high/a.cpp includes daemon.h: high may not use daemon"],
        )

    def test_parts_of_files_are_looked_at(self):
        self.assertEqual(
            self.said({"daemon/low/numbers.inc": '#include "high/a.h"\n'}),
            ["daemon/low/numbers.inc includes high/a.h: low may not use high"],
        )

    def test_what_is_allowed_is_used(self):
        self.assertEqual(
            self.said(uses={"daemon/low/uses.cpp": '#include "sample.h"\n'}),
            [
                "the row high allows low, which high does not use",
                "the row low allows zlib, which low does not use",
            ],
        )

    def test_folders_and_rows_agree(self):
        self.assertEqual(
            self.said(folders=("base", "high", "more"), uses={}),
            ["low is a row without a folder", "more is a folder without a row"],
        )

    def test_a_circle_of_rows_is_told(self):
        table = TABLE.replace("| below | bpf |", "| below | bpf, high |")
        told = self.said({"daemon/low/c.h": '#include "high/a.h"\n'}, table=table)
        self.assertEqual(len(told), 1)
        self.assertIn("circle: ", told[0])

    def test_a_row_names_only_folders_with_a_row(self):
        table = TABLE.replace("| above | low |", "| above | low, lwo |")
        self.assertEqual(self.said(table=table), ["the row high names lwo, which has no row"])


if __name__ == "__main__":
    unittest.main()
