# SPDX-License-Identifier: Apache-2.0
"""Whether what waits are for, and trouble, are told apart by their colours by people who see red, green or blue less.

Usage: palette_test.py TOKENS.CSS [unittest options]
"""
import itertools
import pathlib
import re
import sys
import unittest

KINDS = ("lock", "answer", "storage", "memory", "cpu", "stopped", "unknown", "bad")
LEAST = {"light": 11, "dark": 8.5}  # distance in OKLab, times 100; colours with 2 are only just told apart
# What who lacks a kind of cones sees of linear red, green and blue: Machado, Oliveira, Fernandes 2009, severity 1.
SEEN = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# Of OKLab (Ottosson 2020): from linear light to cones, and from their cube roots to lightness and two hues.
CONES = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
         (0.0883024619, 0.2817188376, 0.6299787005))
LAB = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
       (0.0259040371, 0.7827717662, -0.8086757660))


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(text):
    parts = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def oklab(light):
    return times(LAB, [max(0, cone) ** (1 / 3) for cone in times(CONES, light)])


def distance(one, other, seen):
    labs = [oklab([min(1, max(0, part)) for part in times(SEEN[seen], linear(colour))]) for colour in (one, other)]
    return 100 * sum((a - b) ** 2 for a, b in zip(*labs)) ** 0.5


def contrast(one, other):
    bright, dark = sorted((sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(colour)))
                           for colour in (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def schemes(css):
    """The colours of both schemes by name; the dark one has those of its own."""
    light, dark = css.split("prefers-color-scheme: dark")
    return {name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part)) for name, part in
            (("light", light), ("dark", dark))}


class Palette(unittest.TestCase):
    def test_any_two_kinds_are_told_apart_by_everybody(self):
        for name, colours in SCHEMES.items():
            for seen, (one, other) in itertools.product(SEEN, itertools.combinations(KINDS, 2)):
                with self.subTest(scheme=name, seen=seen, kinds=(one, other)):
                    self.assertGreater(distance(colours[one], colours[other], seen), LEAST[name])

    def test_it_would_notice_brown_and_green(self):
        self.assertGreater(distance("#b04a00", "#5c7a00", "normal"), LEAST["light"])
        self.assertLess(distance("#b04a00", "#5c7a00", "protan"), LEAST["light"])

    def test_trouble_and_text_stand_out_of_both_grounds(self):
        for name, colours in SCHEMES.items():
            for ground in ("ground", "panel"):
                for text in ("text", "quiet", "accent", "bad"):
                    with self.subTest(scheme=name, ground=ground, text=text):
                        self.assertGreaterEqual(contrast(colours[text], colours[ground]), 4.5)

    def test_shades_of_the_heat_map_go_one_way_in_lightness(self):
        for name, colours in SCHEMES.items():
            for seen in SEEN:
                lights = [oklab(times(SEEN[seen], linear(colours[f"heat-{i}"])))[0] for i in range(6)]
                steps = [b - a for a, b in zip(lights, lights[1:])]
                self.assertTrue(all(step < -0.03 for step in steps) or all(step > 0.03 for step in steps),
                                (name, seen, steps))


if __name__ == "__main__":
    SCHEMES = schemes(pathlib.Path(sys.argv[1]).read_text())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
