# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate is killed while it injects or removes the counting probe. The target must keep
running, counted or not, and the next run removes the remains.

Here each step is hit once; "make stress-count-attach" hits each step in each
kind of target.
"""

import itertools

from count_inject_lib import (Counting, CountTarget, check_same_but_gates, difference, end_tool,
                              kill_at, put_in_and_out, some_of, start_tool, was_put_in)
from inject_lib import KINDS, KillTarget, file_maps
from live import check, equal, run, test


def step_names(pid):
    return put_in_and_out(pid)[0]["steps"]


@test
def memstate_is_killed_at_each_step():
    with CountTarget(2) as target:
        target.order(b"w")
        names = step_names(target.pid)
        seen = check_same_but_gates(target.pid, maps_of=file_maps)
        for name in ("open: place", "close: place back", "open: stop of all", "close: system call"):
            check(name in names, f"no step {name}: {names}")
        for step in some_of(names):
            killed = kill_at(target.pid, step)
            target.order(b"w")
            target.check_whole()
            if killed:
                put_in_and_out(target.pid)
            target.order(b"w")
            check_same_but_gates(target.pid, seen, file_maps)


@test
def a_kill_at_each_step_leaves_the_target_intact():
    with CountTarget() as target:
        count = len(step_names(target.pid))
    for step, kind in zip(range(1, count + 1, 7), itertools.cycle(KINDS)):
        with KillTarget(*kind) as target:
            kill_at(target.pid, step)
            target.check_as_before()
            put_in_and_out(target.pid)
            target.check_as_before()
            target.check_left_over()


@test
def a_kill_while_counting_leaves_a_working_probe():
    with CountTarget(2) as target:
        put_in_and_out(target.pid)
        seen = check_same_but_gates(target.pid, maps_of=file_maps)
        with Counting(target.pid) as counting:
            target.order(b"k")
            counting.read()
            counting.kill()
        for letter in (b"w", b"t", b"f", b"c"):
            equal(target.order(letter).get("status", 0), 0, "exit status of a child")
        with Counting(target.pid) as counting:
            before = counting.read()["sums"]
            said = target.order(b"s")
            equal(difference(before, counting.read()["sums"]), said, "calls")
            was_put_in(counting.end())
        target.order(b"c")
        check_same_but_gates(target.pid, seen, file_maps)


@test
def a_child_with_a_leftover_probe_survives():
    with CountTarget(2) as target:
        with Counting(target.pid) as counting:
            equal(target.order(b"f")["status"], 0, "exit status of the child")
            counting.kill()
        equal(target.order(b"f")["status"], 0, "exit status of the child")
        for _ in range(2):
            put_in_and_out(target.pid)
            equal(target.order(b"f")["status"], 0, "exit status of the child")
        process = start_tool(target.pid, "-n", 3)
        target.order(b"f")
        for cycle in end_tool(process)[1]:
            was_put_in(cycle)
        target.check_whole()


run()
