# SPDX-License-Identifier: GPL-2.0-or-later
"""The helper is injected into processes that allocate constantly, and removed: nothing
hangs and no memory is corrupted.

"make stress-inject" repeats this thousands of times.
"""

import errno
import os
import time

from inject_lib import (InjectTarget, check_same, end_tool, facts, file_maps, put_in_and_out,
                        start_tool, tool, was_put_in)
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
def one_allocating_thread_keeps_running():
    check_churn(1, 10)


@test
def threads_with_overwritten_freed_memory_keep_running():
    check_churn(3, 2, env=PERTURBED)


def is_stuck(target):
    """Return whether the main thread waits for a lock without any progress."""
    before, start = target.counters(), time.monotonic()
    while time.monotonic() - start < 0.5:
        time.sleep(0.02)
        if target.has_ended() or target.counters()[0] != before[0]:
            return False
        if not status_field(target.pid, "State").startswith("S"):
            return False
    return read_proc(target.pid, "syscall").startswith(b"202 ")  # futex


@test
def without_proof_of_a_safe_moment_the_target_hangs():
    """Show what the tests above would see without the proof of a safe moment."""
    end = time.monotonic() + 60
    with InjectTarget("churn", 2) as target:
        cycle = {"open": 0}
        while cycle["open"] in (0, -errno.EBUSY) and not target.has_ended():
            check(time.monotonic() < end, "it never hung: the test proves nothing")
            cycle = tool(target.pid, "-x", 1, "-q", 0)[0]
        check(target.has_ended() or is_stuck(target), f"the target still works after {cycle}")


@test
def two_concurrent_injections_do_no_harm():
    with InjectTarget("churn", 4) as target:
        before = facts(target.pid, file_maps)
        both = [start_tool(target.pid, "-n", 4) for _ in range(2)]
        cycles = [cycle for process in both for cycle in end_tool(process)[1]]
        check(any(cycle["open"] == 0 for cycle in cycles), f"no helper was injected: {cycles}")
        for cycle in cycles:
            check(-cycle["open"] in (0, errno.EBUSY, errno.EAGAIN), f"open: {cycle}")
            equal(cycle.get("close", 0), 0, f"close: {cycle}")
        target.check_goes_on()
        check_same(before, facts(target.pid, file_maps))


run()
