# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for the heap tests: targets that print malloc's own figures, and checks
for any heap.

The target runs as built, or through the command in MEMSTATE_TEST_HEAP_TARGET, such as the
loader of another glibc with a target built for it.
"""

import ctypes
import json
import os
import shlex

from live import (KIB, OWNERS, STATES, OrderedTarget, check, equal, is_in_state, memstate,
                  read_proc, wait_until)

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
MALLINFO = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost"]
HEAP_OWNERS = OWNERS[:4]
NO_HURRY = ("--max-pause", "60s")  # a busy machine stops threads and copies memory slowly


# userfaultfd(2) with O_CLOEXEC and UFFD_USER_MODE_ONLY
SYS_USERFAULTFD = {"x86_64": 323, "aarch64": 282}
FLAGS = os.O_CLOEXEC | 1


def has_userfaultfd():
    """memstate does not call userfaultfd(2) if a seccomp filter could kill it for that."""
    if read_proc("self", "status").split(b"Seccomp:")[1].split()[0] != b"0":
        return False
    fd = ctypes.CDLL(None).syscall(SYS_USERFAULTFD[os.uname().machine], FLAGS)
    if fd < 0:
        return False
    os.close(fd)
    return True


class HeapTarget(OrderedTarget):
    """A shape of tests/targets/heap_target, set up and waiting for commands."""

    def __init__(self, *args, program="heap_target", tunables=None, more_env=None, **popen):
        env = {**os.environ, **(more_env or {})}
        if tunables:
            env["GLIBC_TUNABLES"] = tunables
        command = [os.path.join(FOLDER, program)]
        if program == "heap_target":
            command = shlex.split(os.environ.get("MEMSTATE_TEST_HEAP_TARGET", "")) or command
        self.is_restless = args[0] == "churn"
        super().__init__([*command, *[str(a) for a in args]], env=env, **popen)

    def wait_for_rest(self):
        if not self.is_restless:
            wait_until(lambda: is_in_state(self.pid, b"S"), "all threads wait")


def read_heap(pid):
    return json.loads(memstate("heap", "-p", pid, "-J", *NO_HURRY).must_be(0).out)


def anonymous_rss(pid):
    """Return resident anonymous memory without the stack, whose size varies."""
    total, counts = 0, False
    for line in read_proc(pid, "smaps").splitlines():
        words = line.split()
        if b"-" in words[0] and b":" not in words[0]:
            name = words[5] if len(words) > 5 else b""
            counts = name in (b"", b"[heap]")
        elif words[0] == b"Rss:" and counts:
            total += int(words[1]) * KIB
    return total


def rss(pid):
    for line in read_proc(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Rss:"):
            return int(line.split()[1]) * KIB
    return None


def check_matrix(pid, *args, is_still=True):
    """Check that rows, columns and total of the matrix equal Rss, including
    the heap's owners."""
    before = rss(pid)
    rows = memstate("-p", pid, "--csv", "-n1", "--output-all", "--heap", "walk",
                    *NO_HURRY, *args).must_be(0).rows()
    row = rows[0]
    if is_still:
        # the kernel may reclaim clean pages of files meanwhile
        both = sorted([before, rss(pid)])
        check(both[0] <= row["rss_bytes"] <= both[1], f"Rss: {row['rss_bytes']}, wanted {both}")
    equal(row["unexplained_bytes"], 0, "unexplained")
    equal(sum(row[f"{o}_bytes"] for o in OWNERS), row["rss_bytes"], "sum of owners")
    equal(sum(row[f"{s}_bytes"] for s in STATES), row["rss_bytes"], "sum of states")
    for o in OWNERS:
        cells = [row[f"{o}_{s}_bytes"] for s in STATES]
        known = sum(c for c in cells if c is not None)
        check(known <= row[f"{o}_bytes"] if None in cells else known == row[f"{o}_bytes"],
              f"row {o}: {cells}, {row[f'{o}_bytes']}")
    for s in STATES:
        cells = [row[f"{o}_{s}_bytes"] for o in OWNERS]
        known = sum(c for c in cells if c is not None)
        check(known <= row[f"{s}_bytes"] if None in cells else known == row[f"{s}_bytes"],
              f"column {s}: {cells}, {row[f'{s}_bytes']}")
    return row


def check_target(target, trims=True):
    """Check everything that both sides can know about a target."""
    pid = target.pid
    rss_before = rss(pid)
    heap = read_heap(pid)
    equal(rss(pid), rss_before, "Rss after the walk")
    equal(heap["problem"], None, "problem")
    equal(heap["heap_quality"], "exact", "quality")
    equal(heap["mallinfo2"], {key: target.truth[key] for key in MALLINFO}, "mallinfo2")
    equal(heap["rss_bytes"], rss_before, "Rss")
    row = check_matrix(pid)
    equal(row["allocator"], "glibc", "allocator")
    equal(row["heap_quality"], "exact", "quality of the row")
    for owner in HEAP_OWNERS:
        equal(row[f"{owner}_bytes"], heap[f"{owner}_resident_bytes"], owner)
    truth = target.order(b"i")
    equal(truth, {key: target.truth[key] for key in MALLINFO}, "mallinfo2 after the walk")
    if trims:
        before = anonymous_rss(pid)
        target.order(b"t")
        equal(before - anonymous_rss(pid), heap["trimmable_bytes"], "given back by malloc_trim(0)")
    return heap


def check_details(report):
    """Check that each exact heap of a JSON report has fill levels that add up to its free memory,
    and that a heap without known pages has none."""
    for heap in report["heaps"]:
        detail, name = heap["detail"], heap["heap"]
        has_regions = name in ("v8", "java")
        equal(detail is None, heap["quality"] == "unknown" or (has_regions and heap["quality"] != "exact"),
              f"{name}: no detail")
        if detail is None:
            continue
        levels = {row["in_use"]: row for row in detail["pages"]}
        pool = heap["pool_pages_resident_bytes"], heap["pool_fragments_resident_bytes"]
        equal(levels["0%"]["free_bytes"], pool[0], f"{name}: free pages")
        equal(sum(row["free_bytes"] for row in levels.values()), sum(pool), f"{name}: free bytes")
        equal(detail["types"] is None, has_regions, f"{name}: blocks are known")
        if heap["is_collected"]:
            equal(sum(strip["pages"] for strip in detail["map"]), sum(row["pages"] for row in levels.values()),
                  f"{name}: pages on the map")
            equal(sum(strip["free_bytes"] for strip in detail["map"]), sum(pool), f"{name}: free bytes on the map")
