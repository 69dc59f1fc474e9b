# SPDX-License-Identifier: GPL-2.0-or-later
"""Cgroups of version 2 with swap. `make check-qemu` runs this in a guest
that has both."""

import signal

from live import MIB, Skip, check, equal, run
from oom_lib import Filled, Group, check_sum, explained, figures, find_hierarchy, near, test

LIMIT = 48 * MIB
SWAP = 24 * MIB


def group_with_swap(limit=SWAP):
    with open("/proc/swaps") as f:
        if len(f.readlines()) < 2:
            raise Skip("no swap")
    if find_hierarchy()[1] != 2:
        raise Skip("the memory controller is on cgroup version 1")
    group = Group(LIMIT)
    group.write("memory.swap.max", limit)
    return group


@test
def swapped_memory_is_reported_but_not_needed():
    with group_with_swap() as group, Filled(group, "anon=60"):
        f = figures(group)
        check_sum(f)
        near(f["swap_bytes"] + f["live_anon_bytes"], 60 * MIB, "on swap, and not")
        check(f["swap_bytes"] >= 11 * MIB, f"on swap: {f['swap_bytes']}")
        equal(f["oom_kill_count"], 0, "kills")


@test
def full_swap_is_the_cause_of_a_kill():
    with group_with_swap() as group:
        equal(group.run("anon=60"), 0, "status with a smaller allocation")
        equal(group.run("anon=90"), -signal.SIGKILL, "status")
        equal(explained(group)["cause"], "swap_full", "cause")


@test
def swap_that_the_cgroup_may_not_use_is_not_the_cause():
    with group_with_swap(0) as group:
        equal(group.run("anon=60"), -signal.SIGKILL, "status")
        equal(explained(group)["cause"], "private_memory", "cause")


@test
def lazily_freed_memory_is_reclaimed_before_swapping():
    with group_with_swap() as group, Filled(group, "anon=40", "free=0", "anon=30"):
        f = figures(group)
        check_sum(f)
        near(f["swap_bytes"], 0, "on swap")
        near(f["live_anon_bytes"], 30 * MIB, "live")


run()
