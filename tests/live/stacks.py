# SPDX-License-Identifier: GPL-2.0-or-later
"""The stack of every thread has owner stack, and its Rss equals
what mincore() reports."""

import os

from live import (KIB, Skip, Target, add_up, check, check_mappings, check_sums, equal,
                  mappings_within, map_rows, run, sample, test)

COUNT = 8
TOUCHED = 100 * KIB


def kernel_marks_stacks():
    """Return whether the kernel marks stacks: since Linux 6.7, MAP_STACK
    disables huge pages."""
    return tuple(int(n) for n in os.uname().release.split(".")[:2]) >= (6, 7)


def check_stacks(target, owner="stack"):
    stacks = zip(target.all["stack_start"], target.all["stack_end"],
                 target.all["stack_resident"])
    for start, end, resident in stacks:
        rows = mappings_within(target.pid, start, end)
        equal([row["owner"] for row in rows], [owner], f"owner of the stack at {start:x}")
        equal(add_up(rows, "rss_bytes"), resident, f"Rss of the stack at {start:x}")
    row = sample(target.pid, heap="off")
    check_sums(row)
    check_mappings(target.pid, row)
    return row


def resident(target):
    return sum(target.all["stack_resident"])


@test
def stacks_of_waiting_threads_are_stack():
    with Target("threads", "plain", COUNT, TOUCHED, is_stopped=True) as target:
        check(resident(target) >= COUNT * TOUCHED, "the target did not touch its stacks")
        row = check_stacks(target)
        main = [m for m in map_rows(target.pid) if m["name"] == "[stack]"]
        equal(row["stack_bytes"], resident(target) + add_up(main, "rss_bytes"), "stack_bytes")
        equal(row["threads"], COUNT + 1, "threads")


@test
def stacks_are_found_without_stopping_the_process():
    with Target("threads", "plain", COUNT, TOUCHED) as target:
        check_stacks(target)


@test
def the_stack_of_a_thread_that_spins_is_stack():
    with Target("threads", "spinning", 1, TOUCHED) as target:
        check_stacks(target)


@test
def stacks_without_a_guard_are_stack():
    """Adjacent stacks may form one mapping, so compare the total."""
    with Target("threads", "no-guard", COUNT, TOUCHED, is_stopped=True) as target:
        row = sample(target.pid, heap="off")
        check_sums(row)
        check_mappings(target.pid, row)
        if not kernel_marks_stacks():
            raise Skip("without a guard, only Linux 6.7 and later mark stacks by their flags")
        check(row["stack_bytes"] >= resident(target), f"stack_bytes: {row['stack_bytes']}, of "
              f"threads {resident(target)}")


@test
def stacks_with_a_large_guard_are_stack():
    with Target("threads", "large-guard", COUNT, TOUCHED, is_stopped=True) as target:
        if not kernel_marks_stacks():
            raise Skip("with a large guard, only Linux 6.7 and later mark stacks by their flags")
        check_stacks(target)


@test
def stacks_that_glibc_caches_are_stack():
    with Target("threads", "exited", COUNT, TOUCHED, is_stopped=True) as target:
        row = check_stacks(target)
        equal(row["threads"], 1, "threads")


@test
def program_memory_used_as_a_stack_stays_anon():
    """Nothing distinguishes it from other memory, such as a heap or a Go arena."""
    with Target("threads", "own-stack", 1, TOUCHED, is_stopped=True) as target:
        row = sample(target.pid, heap="off")
        check_sums(row)
        check_mappings(target.pid, row)
        check(row["anon_bytes"] >= resident(target), f"anon_bytes: {row['anon_bytes']}")


run()
