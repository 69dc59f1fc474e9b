# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of memory: owner, states and the figures beside Rss match what
the process did."""

import contextlib
import os

from live import (IS_ROOT, MIB, PAGE, STATES, Folder, Skip, Target, add_up, check, check_mappings,
                  check_sums, equal, mappings_within, run, sample, stop, test)

SIZE = 2 * MIB


def check_target(target, owner):
    """Check the figures that the target reports about its mapping, and that the whole
    process adds up."""
    rows = mappings_within(target.pid, target.truth["start"], target.truth["end"])
    equal({m["owner"] for m in rows}, {owner}, "owners")
    for column in ["rss_bytes"] + [f"{s}_bytes" for s in STATES] + ["locked_bytes", "thp_bytes"]:
        if column in target.truth:
            equal(add_up(rows, column), target.truth[column], column)
    row = sample(target.pid)
    check_sums(row)
    check_mappings(target.pid, row)
    return row


def check_beside(target, column):
    """Check a figure beside Rss: a process has more than its own mapping, such as libc's
    and the loader's."""
    got = sample(target.pid)[column]
    with Target("name", "bare", is_stopped=True) as bare:
        others = sample(bare.pid)[column]
    # the mapping's two neighbours are pages that were never touched
    slack = abs(got - others - target.truth[column])
    check(slack <= 16 * PAGE, f"{column}: {got}, without the mapping {others}")


@test
def touched_pages_are_dirty_and_the_others_unbacked():
    with Target("unbacked", SIZE, SIZE // 4, is_stopped=True) as target:
        check_target(target, "anon")
        check_beside(target, "unbacked_bytes")


@test
def pages_given_back_with_dontneed_are_unbacked():
    with Target("dontneed", SIZE, SIZE // 2, is_stopped=True) as target:
        check_target(target, "anon")
        check_beside(target, "unbacked_bytes")


@test
def address_space_without_access_is_reserved_and_not_unbacked():
    with Target("reserved", 64 * MIB, is_stopped=True) as target:
        row = check_target(target, "anon")
        check(row["unbacked_bytes"] < 64 * MIB, "reserved counted as unbacked")
        check_beside(target, "reserved_bytes")


@test
def locked_memory_is_reported():
    with Target("locked", SIZE, is_stopped=True) as target:
        equal(check_target(target, "anon")["locked_bytes"], SIZE, "locked_bytes")


@test
def paged_out_memory_that_is_not_resident_is_swap():
    with Target("swapped", 16 * MIB, 8 * MIB, is_stopped=True) as target:
        rows = mappings_within(target.pid, target.truth["start"], target.truth["end"])
        rss, swap = add_up(rows, "rss_bytes"), add_up(rows, "swap_bytes")
        equal(rss + swap, target.truth["total_bytes"], "Rss and Swap")
        check(swap <= target.truth["out_bytes"], "more swapped out than requested")
        row = sample(target.pid)
        check_sums(row)
        check(row["unbacked_bytes"] < SIZE, "swapped out counted as unbacked")


def shmem(kind):
    with Target(kind, SIZE, is_stopped=True) as target:
        check_target(target, "shmem")


@test
def shared_anonymous_memory_is_shmem():
    shmem("shared-anonymous")


@test
def a_memfd_is_shmem():
    shmem("memfd")


@test
def posix_shared_memory_is_shmem():
    shmem("posix-shm")


@test
def sysv_shared_memory_is_shmem():
    shmem("sysv-shm")


@test
def a_file_of_a_tmpfs_is_shmem_wherever_it_is_mounted():
    shmem("tmpfs")


def check_file(target):
    row = check_target(target, "file")
    rows = mappings_within(target.pid, target.truth["start"], target.truth["end"])
    clean = add_up(rows, "private_clean_bytes") + add_up(rows, "shared_clean_bytes")
    equal(clean, target.truth["clean_bytes"], "clean pages of the file")
    return row, rows


@test
def a_file_is_clean_where_read_and_private_dirty_where_written():
    with Folder() as folder, \
         Target("file", os.path.join(folder, "data"), SIZE, SIZE // 4, "keep",
                is_stopped=True) as target:
        check_file(target)


@test
def a_deleted_file_is_a_file():
    with Folder() as folder, \
         Target("file", os.path.join(folder, "data"), SIZE, 0, is_stopped=True) as target:
        _, rows = check_file(target)
        check(rows[0]["name"].endswith("/data (deleted)"), rows[0]["name"])


@test
def pages_shared_since_a_fork_are_shared_dirty_until_one_writes_them():
    with Target("cow", SIZE, SIZE // 4, is_stopped=True) as target:
        stop(target.truth["child"])
        check_target(target, "anon")
        rows = mappings_within(target.truth["child"], target.truth["start"], target.truth["end"])
        for column in ("rss_bytes", "private_dirty_bytes", "shared_dirty_bytes"):
            equal(add_up(rows, column), target.truth[column], f"{column} of the child")


@test
def transparent_huge_pages_are_reported():
    with Target("huge", 4 * MIB, is_stopped=True) as target:
        row = check_target(target, "anon")
        check(row["thp_bytes"] >= 4 * MIB, f"thp_bytes: {row['thp_bytes']}")


@contextlib.contextmanager
def free_huge_pages(count):
    """Enlarge the pool of huge pages during the block."""
    path = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    if not os.path.exists(path):
        raise Skip("no huge pages of 2 MiB on this machine")
    with open(path) as f:
        before = int(f.read())
    if not IS_ROOT:
        yield
        return
    try:
        with open(path, "w") as f:
            f.write(str(before + count))
    except OSError as error:
        raise Skip(f"{path}: {error.strerror}")
    try:
        yield
    finally:
        with open(path, "w") as f:
            f.write(str(before))


@test
def hugetlb_pages_are_reported_outside_rss():
    with free_huge_pages(2), Target("hugetlb", 4 * MIB, is_stopped=True) as target:
        row = sample(target.pid)
        check_sums(row)
        equal(row["hugetlb_bytes"], target.truth["hugetlb_bytes"], "hugetlb_bytes")
        check(row["rss_bytes"] < 4 * MIB, "hugetlb pages in Rss")
        check(row["unbacked_bytes"] < 4 * MIB, "hugetlb pages counted as unbacked")


@test
def a_process_of_60000_mappings_adds_up():
    with Target("mappings", 60000, is_stopped=True) as target:
        row = check_target(target, "anon")
        check(row["mappings"] >= 60000, f"mappings: {row['mappings']}")


run()
