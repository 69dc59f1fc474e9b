# SPDX-License-Identifier: GPL-2.0-or-later
"""Lazily freed pages are distinguished from the clean pages among which the
kernel counts them."""

from live import (MIB, PAGE, Target, add_up, check_sums, equal, mappings_within, run, sample, stop,
                  test)

TOTAL = 4 * MIB
FREED = 3 * MIB
REDIRTIED = 1 * MIB
WRITTEN = 25 * PAGE


def states_of(target, pid):
    rows = mappings_within(pid, target.truth["start"], target.truth["end"])
    names = ["rss", "private_dirty", "lazyfree", "private_clean", "shared_dirty", "shared_clean"]
    return {name: add_up(rows, f"{name}_bytes") for name in names}


@test
def pages_freed_lazily_are_lazyfree_and_not_private_clean():
    with Target("lazyfree", TOTAL, FREED, 0, is_stopped=True) as target:
        equal(states_of(target, target.pid),
              {"rss": TOTAL, "private_dirty": TOTAL - FREED, "lazyfree": FREED,
               "private_clean": 0, "shared_dirty": 0, "shared_clean": 0}, "states")
        equal(sample(target.pid)["lazyfree_bytes"], FREED, "lazyfree of the process")


@test
def pages_written_after_they_were_freed_are_dirty_again():
    with Target("lazyfree", TOTAL, FREED, REDIRTIED, is_stopped=True) as target:
        equal(states_of(target, target.pid),
              {"rss": TOTAL, "private_dirty": target.truth["dirty_bytes"],
               "lazyfree": target.truth["lazyfree_bytes"], "private_clean": 0,
               "shared_dirty": 0, "shared_clean": 0}, "states")


@test
def after_a_fork_lazyfree_pages_are_not_counted_as_shared_clean():
    with Target("lazyfree", TOTAL, FREED, REDIRTIED, WRITTEN, is_stopped=True) as target:
        child = target.truth["child"]
        stop(child)
        dirty = target.truth["dirty_bytes"]
        equal(states_of(target, target.pid),
              {"rss": TOTAL, "private_dirty": 0, "lazyfree": target.truth["lazyfree_bytes"],
               "private_clean": 0, "shared_dirty": dirty, "shared_clean": 0}, "parent")
        equal(states_of(target, child),
              {"rss": TOTAL, "private_dirty": target.truth["child_private_dirty_bytes"],
               "lazyfree": target.truth["child_lazyfree_bytes"], "private_clean": 0,
               "shared_dirty": dirty, "shared_clean": 0}, "child")
        check_sums(sample(target.pid))
        check_sums(sample(child))


@test
def lazyfree_does_not_depend_on_the_requested_columns():
    with Target("lazyfree", TOTAL, FREED, REDIRTIED, WRITTEN, is_stopped=True) as target:
        columns = [f"{s}_bytes" for s in ("lazyfree", "private_clean", "shared_clean", "rss")]
        whole = sample(target.pid)
        states = sample(target.pid, columns)
        for column in columns:
            equal(states[column], whole[column], column)


run()
