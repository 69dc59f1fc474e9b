# SPDX-License-Identifier: GPL-2.0-or-later
"""The helper is put into processes that allocate all the time, and taken out: nothing hangs, nothing
is spoilt. "make stress-inject" does it thousands of times."""

import errno
import os
import time

from inject_lib import (InjectTarget, check_same, end_tool, facts, file_maps, put_in_and_out, start_tool,
                        tool, was_put_in)
from live import Skip, check, equal, read_proc, run, status_field, test, wait_until

PERTURBED = {**os.environ, "MALLOC_PERTURB_": "165"}


def check_churn(threads, cycles, **popen):
    with InjectTarget("churn", threads, **popen) as target:
        before = facts(target.pid, file_maps)
        for cycle in put_in_and_out(target, "-n", cycles):
            check(cycle["live_bytes"] > 0, f"live: {cycle}")
        target.check_goes_on()
        check_same(before, facts(target.pid, file_maps))


@test
def sixteen_allocating_threads_keep_running():
    check_churn(16, 3)


@test
def one_thread_that_allocates_goes_on():
    check_churn(1, 10)


@test
def threads_whose_freed_memory_is_overwritten_go_on():
    check_churn(3, 2, env=PERTURBED)


def is_stuck(target):
    """Its main thread waits for a lock, for good: it does not even try."""
    before, start = target.counters(), time.monotonic()
    while time.monotonic() - start < 0.5:
        time.sleep(0.02)
        if target.has_ended() or target.counters()[0] != before[0]:
            return False
        if not status_field(target.pid, "State").startswith("S"):
            return False
    return read_proc(target.pid, "syscall").startswith(b"202 ")  # futex


@test
def without_proof_of_a_safe_moment_it_would_hang():
    """What the tests above would see if the proof did not hold."""
    end = time.monotonic() + 60
    with InjectTarget("churn", 2) as target:
        cycle = {"open": 0}
        while cycle["open"] in (0, -errno.EBUSY) and not target.has_ended():
            check(time.monotonic() < end, "it never hung: the test does not test")
            cycle = tool(target.pid, "-x", 1, "-q", 0)[0]
        check(target.has_ended() or is_stuck(target), f"it goes on after {cycle}")


@test
def two_at_once_do_not_harm_it():
    with InjectTarget("churn", 4) as target:
        before = facts(target.pid, file_maps)
        both = [start_tool(target.pid, "-n", 4) for _ in range(2)]
        cycles = [cycle for process in both for cycle in end_tool(process)[1]]
        check(any(cycle["open"] == 0 for cycle in cycles), f"none was put in: {cycles}")
        for cycle in cycles:
            check(-cycle["open"] in (0, errno.EBUSY, errno.EAGAIN), f"open: {cycle}")
            equal(cycle.get("close", 0), 0, f"it is taken out: {cycle}")
        target.check_goes_on()
        check_same(before, facts(target.pid, file_maps))


run()
