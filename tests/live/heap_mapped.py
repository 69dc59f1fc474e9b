# SPDX-License-Identifier: GPL-2.0-or-later
"""Large blocks, large free chunks, and memory outside of malloc, are hardly copied: the walkers
read the heads of the chunks. The figures are those of a complete copy."""

import json
import os
import subprocess
import sys

from heap_lib import FOLDER, HEAP_OWNERS, NO_HURRY, has_userfaultfd
from live import (KIB, MEMSTATE, MIB, OrderedTarget, check, check_sums, equal, memstate, run, test,
                  wait_until)
from pre_copy_lib import SECCOMP, Storm

SIZE = 100  # MiB; smaller heaps are copied as a whole
LARGE = 190 * KIB
KINDS = ("plain", "aligned", "moved", "zeros", "forged")


class MappedTarget(OrderedTarget):
    def __init__(self, kind):
        super().__init__([os.path.join(FOLDER, "mapped_target"), str(SIZE), kind])


def read(pid):
    out = memstate("heap", "-p", pid, "-J", "--pre-copy", "off", *NO_HURRY).must_be(0).out
    return json.loads(out)


def read_whole(pid):
    """Read the heap under a seccomp filter, with which memstate cannot notice the pages that
    a walk lacks. It therefore copies all pages."""
    out = subprocess.run([sys.executable, "-c", SECCOMP, MEMSTATE, "heap", "-p", str(pid), "-J",
                          "--pre-copy", "off", *NO_HURRY], stdout=subprocess.PIPE, check=True).stdout
    report = json.loads(out)
    check(report["copied_bytes"] > SIZE * MIB * 9 // 10, f"copied: {report['copied_bytes']}")
    return report


def check_report(pid, is_sparse=True, part=4):
    """Read the heap, and compare the report with that of a complete copy. Check that less than
    1/part of the bytes of the complete copy were copied."""
    report, whole = read(pid), read_whole(pid)
    copied = report.pop("copied_bytes")
    if is_sparse and has_userfaultfd():
        check(copied < whole["copied_bytes"] // part, f"copied: {copied} of {whole['copied_bytes']}")
    for key, value in report.items():
        if key != "pause_s":
            equal(value, whole[key], key)
    equal((report["heap_quality"], report["problem"]), ("exact", None), "quality")
    return report


@test
def mapped_blocks_are_those_of_the_program():
    for kind in KINDS:
        with MappedTarget(kind) as target:
            # zeros may be the memory before an aligned block, so the walk reads them
            truth, report = target.truth, check_report(target.pid, kind != "zeros")
            row = memstate("-p", target.pid, "--csv", "-n", 1, "--heap", "walk", *NO_HURRY,
                           "--output-all").must_be(0).rows()[0]
        # the types of blocks are in their first words; without libelf, they have no names
        large = [t for t in report["types"] if t["name"] == "Big" or (t["size_bytes"] or 0) >= LARGE]
        equal((report["mapped_count"], report["mapped_bytes"]), (truth["hblks"], truth["hblkhd"]), kind)
        equal(truth["hblks"], truth["count"], f"{kind}: blocks with their own mappings")
        equal(sum(t["live_count"] for t in large), truth["count"], f"{kind}: large blocks")
        equal(sum(t["live_bytes"] for t in large), truth["usable"], f"{kind}: their usable bytes")
        equal(report["mallinfo2"]["uordblks"], truth["uordblks"], f"{kind}: uordblks")
        check_sums(row)
        for owner in HEAP_OWNERS:
            equal(row[f"{owner}_bytes"], report[f"{owner}_resident_bytes"], f"{kind}: {owner}")


@test
def large_blocks_in_arenas_are_those_of_the_program():
    with Storm(SIZE, "large-blocks") as target:
        # one of four pages has a head
        report = check_report(target.pid, part=3)
    large = [c for c in report["classes"] if c["upper_bytes"] in (16384, 32768)]
    freed, count = 0, SIZE * MIB // 16400
    for c in large:
        freed += c["free_count"]
    equal(sum(c["live_count"] for c in large), count - (count + 6) // 7, "live blocks")
    check(count // 8 < freed <= (count + 6) // 7, f"free chunks: {freed}")


@test
def interiors_of_free_chunks_are_not_copied():
    with Storm(SIZE, "mostly-freed") as target:
        report = check_report(target.pid)
    check(report["pool_pages_resident_bytes"] > SIZE * MIB * 8 // 10, report["pool_pages_resident_bytes"])


@test
def the_search_for_leaks_reads_the_interiors_of_mapped_blocks():
    with MappedTarget("plain") as target:
        out = memstate("leaks", "-p", target.pid, "-J", "--pre-copy", "off", *NO_HURRY).must_be(0).out
        found = json.loads(out)
    equal((found["direct_count"], found["indirect_count"]), (0, 0), "leaked blocks")
    check(found["live_count"] > target.truth["count"] + 1000, f"live blocks: {found['live_count']}")


@test
def memory_outside_of_malloc_is_counted():
    with Storm(SIZE, "mapped") as target:
        report = check_report(target.pid)
    check(report["unknown_anon_bytes"] >= SIZE * MIB, report["unknown_anon_bytes"])


@test
def a_busy_heap_has_complete_sums():
    """Blocks with their own mappings come, grow and go."""
    with Storm(SIZE, "malloc", "mapped", "large-blocks") as target:
        wait_until(lambda: read(target.pid)["mapped_count"] > 0, "a block has its own mapping")
        # a series would use the figures of one walk for all rows
        rows = [memstate("--csv", "-n", 1, "--heap", "walk", "-p", target.pid, *NO_HURRY,
                         "--output-all").must_be(0).rows()[0] for _ in range(8)]
    for row in rows:
        check_sums(row)
        equal(row["unexplained_bytes"], 0, "unexplained")
    check(any(row["heap_quality"] == "exact" for row in rows), [row["heap_quality"] for row in rows])


run()
