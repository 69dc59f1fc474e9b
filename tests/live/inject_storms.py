# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that fork, exec and exit during the injection: children and survivors stay
intact, and a process that is gone is not an error."""

import errno
import os
import signal
import time

from inject_lib import (InjectTarget, end_tool, put_in_and_out, start_holding, start_tool,
                        steps_of, tool, was_put_in)
from live import check, equal, run, test, wait_until

SECONDS = 1
GONE = (0, errno.ESRCH, errno.EAGAIN, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBUSY)


def repeat(act):
    end, times = time.monotonic() + SECONDS, 0
    while time.monotonic() < end or times == 0:
        act()
        times += 1


@test
def a_process_that_forks_and_changes_its_user_id():
    with InjectTarget("forks", 4) as target:
        repeat(lambda: put_in_and_out(target, "-n", 3))
        target.check_goes_on()


@test
def a_process_that_forks_with_the_helper_inside():
    with InjectTarget("forks", 2) as target:
        process = start_holding(target.pid)
        before = target.counters()[0]
        # every 50th iteration it changes its user id, which waits for each thread
        # including the helper
        wait_until(lambda: target.counters()[0] > before + 110, "the target keeps forking")
        process.stdin.write(b"\n")
        process.stdin.flush()
        was_put_in(end_tool(process)[1][-1])
        target.check_goes_on()


@test
def a_process_that_starts_other_programs():
    with InjectTarget("vforks") as target:
        repeat(lambda: tool(target.pid, "-n", 3))
        target.check_goes_on()
        equal(target.wrong, 0, "programs that failed")


@test
def a_process_that_execs():
    with InjectTarget("execs") as target:
        def act():
            cycle = tool(target.pid, "-l", 100)[0]
            check(-cycle["open"] in GONE, f"{cycle}")
        repeat(act)
        target.check_goes_on()


@test
def a_process_that_exits():
    with InjectTarget("ends") as target:
        def act():
            for cycle in end_tool(start_tool(target.is_in_call, "-l", 100), True)[1]:
                check(-cycle["open"] in GONE, f"{cycle}")
        wait_until(lambda: target.is_in_call > 1, "the target has a child")
        repeat(act)
        target.check_goes_on()


@test
def a_process_that_is_killed_at_each_step():
    with InjectTarget("spin") as target:
        count = len(steps_of(target))
    for step in range(1, count + 1, 2):
        with InjectTarget("spin") as target:
            end_tool(start_tool(target.pid, "-s", f"{step}:{int(signal.SIGKILL)}"))
            equal(target.process.wait(), -signal.SIGKILL, "exit status")


run()
