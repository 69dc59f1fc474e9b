# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGSTOP stops the injecting program at a step: the target continues, undamaged, before
it is told to continue the program."""

import itertools
import os
import signal
import time

import count_inject_lib
import inject_lib
from inject_lib import KINDS, KillTarget
from live import check, equal, run, status_field, test

RELEASED_SECONDS = 20  # without the watchdog, the target is held until something continues the tool
STEP = 3  # test every third step; which steps these are depends on the kind of target


def is_held(pid):
    """Return whether a thread of the target has a tracer. The thread may still
    run injected code."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8", errors="replace") as f:
            if "\nTracerPid:\t0\n" not in f.read():
                return True
    return False


def is_stopped(tool):
    state = status_field(tool.pid, "State")
    return state is not None and state.startswith("T")


def continue_when_released(target, tool):
    """Continue the tool whenever it is stopped and holds nothing. Return whether
    it ever stopped."""
    was_stopped, held_since = False, None
    while tool.poll() is None:
        if is_stopped(tool):
            if is_held(target.pid):
                held_since = held_since or time.monotonic()
                check(time.monotonic() < held_since + RELEASED_SECONDS,
                      "a stopped process still holds the target")
            elif is_stopped(tool):
                was_stopped, held_since = True, None
                tool.send_signal(signal.SIGCONT)
        time.sleep(0.002)
    return was_stopped


def check_step(library, kind, step):
    with KillTarget(*kind) as target:
        tool = library.start_tool(target.pid, "-z", step)
        try:
            was_stopped = continue_when_released(target, tool)
        except AssertionError:
            tool.kill()  # otherwise the target cannot be reaped
            raise
        status, cycles = library.end_tool(tool)
        equal(status, 0, f"status of the tool that was stopped at step {step}")
        library.was_put_in(cycles[0])
        target.check_as_before()
        target.check_left_over()
        return was_stopped


def check_steps(library, numbers):
    stopped = [check_step(library, kind, step)
               for step, kind in zip(numbers[::STEP], itertools.cycle(KINDS))]
    check(any(stopped), "the tool never stopped after a step")


@test
def a_stop_while_the_helper_is_injected_or_removed():
    with KillTarget(*KINDS[0]) as target:
        count = len(inject_lib.steps_of(target))
    check_steps(inject_lib, range(1, count + 1))


@test
def a_stop_while_counting_begins_or_ends():
    with KillTarget(*KINDS[0]) as target:
        names = count_inject_lib.put_in_and_out(target.pid)[0]["steps"]
    check_steps(count_inject_lib, count_inject_lib.some_of(names))


run()
