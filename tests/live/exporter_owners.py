#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter --owners on a generated /proc tree: the largest groups, the sums, and the
budget of CPU time."""

from exporter_lib import add_up, parse
from exporter_tree_lib import Looks, tree_of
from live import check, equal, run, test

OWNERS = "memstate_group_owner_bytes"
KNOWN = "memstate_group_owners_known_processes"
RESIDENT = "memstate_group_resident_bytes"
GROUPS = 10
CREDIT = 0.1  # seconds of CPU that the budget allows in addition


def check_group(samples, group):
    equal(add_up(samples, OWNERS, group=group), add_up(samples, RESIDENT, group=group), group)


def check_sums(samples, tree):
    """The owners of each group add up to its Rss, which is that of the tree in total."""
    groups = {dict(labels)["group"] for at, labels in samples if at == OWNERS}
    for group in groups:
        check_group(samples, group)
    equal(add_up(samples, OWNERS), sum(tree.sums().values()), "all groups")


def looks_of(tree, *args):
    return Looks(tree, "--owners", "--top", "4", "-i", "10ms", *args)


@test
def only_the_shown_groups_have_owners_and_all_sums_are_complete():
    with tree_of(60, GROUPS, mappings=20) as tree:
        looks = looks_of(tree, "--max-cpu", "100%", "-n", "1000000")
        shown = 0
        while shown < 24:  # four groups of six processes
            samples = parse(looks.next())
            check_sums(samples, tree)
            shown = add_up(samples, KNOWN)
        looks.end()
    equal(add_up(samples, KNOWN, group="(rest)"), 0, "processes in the rest")
    equal(add_up(samples, OWNERS, group="(rest)", memory_owner="unknown"),
          add_up(samples, RESIDENT, group="(rest)"), "the rest is unknown")
    for group in {dict(labels)["group"] for at, labels in samples if at == KNOWN} - {"(rest)"}:
        equal(add_up(samples, OWNERS, group=group, memory_owner="unknown"), 0, group)
        check(add_up(samples, OWNERS, group=group, memory_owner="file") > 0, group)
        equal(add_up(samples, "memstate_group_unbacked_bytes", group=group),
              6 * 19 * 2**28 - add_up(samples, OWNERS, group=group, memory_owner="anon"), group)


@test
def a_change_is_read_again_and_is_in_the_sums_before():
    with tree_of(8, 2, mappings=20) as tree:
        looks = looks_of(tree, "--max-cpu", "100%", "-n", "1000000")
        while add_up(samples := parse(looks.next()), KNOWN) < 8:
            pass
        pid = min(tree.rss)
        group = tree.group[pid]
        before = add_up(samples, OWNERS, group=group, memory_owner="anon")
        tree.grow(pid)
        samples = {}
        while add_up(samples, OWNERS, group=group, memory_owner="anon") in (None, before):
            samples = parse(looks.next())
            check_group(samples, group)
        looks.end()


@test
def mappings_use_a_quarter_of_the_budget():
    """All processes change all the time, so reading their mappings needs more than the budget."""
    with tree_of(40, GROUPS, mappings=8000) as tree:
        looks = looks_of(tree, "--top", str(GROUPS), "--max-cpu", "20%", "-n", "1000000")
        elapsed = used = 0
        while elapsed < 3 or used < CREDIT:
            samples = parse(looks.next())
            for group in tree.sums():
                check_group(samples, group)
            elapsed = add_up(samples, "memstate_collect_timestamp_seconds") - \
                add_up(samples, "process_start_time_seconds")
            used = add_up(samples, "memstate_collect_cpu_seconds_total", stage="owners")
            known = add_up(samples, KNOWN)
            # the last process may exceed the credit
            limit = CREDIT + 0.2 / 4 * elapsed + used / max(known, 1) + 0.02
            check(used <= limit, f"{used} s of CPU in {elapsed} s, {known} processes")
            for pid in tree.rss:
                tree.rss[pid] += 4
                tree.write(pid, has_new_smaps=False)
        looks.end()
        check(known > 0, "no owners are known")
        print(f"mappings: {used:.3f} s of CPU in {elapsed:.3f} s, {used / elapsed * 100:.1f} % "
              "with --max-cpu 20%")


if __name__ == "__main__":
    run()
