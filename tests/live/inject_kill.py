# SPDX-License-Identifier: GPL-2.0-or-later
"""Whoever puts the helper in is killed: its target goes on, can be entered again, and has little left
over. Here each step is hit once; "make stress-inject" hits it in each kind of target."""

import itertools
import os
import signal
import time

from inject_lib import KINDS, KillTarget, end_tool, start_tool, steps_of, was_put_in
from live import run, test


def step_count():
    with KillTarget(*KINDS[0]) as target:
        return len(steps_of(target))


@test
def it_is_killed_at_each_step():
    for step, kind in zip(range(1, step_count() + 1), itertools.cycle(KINDS)):
        with KillTarget(*kind) as target:
            target.kill_at(step)


@test
def its_target_is_stopped_at_each_step_and_goes_on():
    for step in range(1, step_count() + 1):
        with KillTarget("spin", 0) as target:
            process = start_tool(target.pid, "-s", f"{step}:{int(signal.SIGSTOP)}")
            while process.poll() is None:
                os.kill(target.pid, signal.SIGCONT)
                time.sleep(0.01)
            was_put_in(end_tool(process)[1][0])
            os.kill(target.pid, signal.SIGCONT)
            target.check_as_before()
            target.check_left_over()


run()
