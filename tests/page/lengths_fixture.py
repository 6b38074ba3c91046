# SPDX-License-Identifier: Apache-2.0
"""How long waits of a unit were, as /api/v1/units says with lengths=UNIT: answers of 2 to 4 ms all the time, some of
16 to 31 ms, and a hang that begins 79 s before the end."""

BOUNDS = [2.0 ** octave for octave in range(-20, 18)] + [None]
STEPS = 60
FIRST = 3  # nothing is known of the steps before
SHORT, LONG = 20 - 8, 20 - 5  # octaves up to 3.9 ms and 31.3 ms
HUNG = 8  # steps


def of(mode, unit):
    if unit.startswith("idle-") or mode == "calm":
        return {"bounds_seconds": BOUNDS, "ended": {}, "lasting": {}}
    steps = range(FIRST, STEPS)
    ended = {"answer": [[step, SHORT, 100.0] for step in steps] + [[step, LONG, 8.0] for step in steps],
             "cpu": [[step, 4, 20.0] for step in steps]}
    if unit == "nginx.service":  # one that took minutes has ended
        ended["lock"] = [[30, 20 + 9, 0.1]]
    if mode == "nostacks":
        return {"bounds_seconds": BOUNDS, "ended": {"cpu": ended["cpu"]}, "lasting": {}}
    lasting = {"answer": [[STEPS - HUNG + i, 8, 9.0 + 10 * i] for i in range(HUNG)],
               "storage": [[40, 1, 0.5]]}
    return {"bounds_seconds": BOUNDS, "ended": ended, "lasting": lasting}
