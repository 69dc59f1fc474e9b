# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap from outside; its figures equal the process's own,
to the byte."""

import json
import os
import subprocess
import sys

from heap_lib import FOLDER, MALLINFO, NO_HURRY, HeapTarget, check_matrix, check_target, read_heap
from live import MIB, Skip, as_nobody, check, equal, memstate, run, status_field, test


@test
def a_fragmented_heap_is_known_to_the_byte():
    with HeapTarget("fragmented", 64) as target:
        heap = check_target(target)
        check(heap["trimmable_bytes"] > MIB, "nothing to trim: the test proves nothing")


@test
def a_trimmed_heap_is_known_to_the_byte():
    with HeapTarget("fragmented", 16) as target:
        target.order(b"t")
        target.truth.update(target.order(b"i"))
        equal(check_target(target)["trimmable_bytes"], 0, "trimmable after a trim")


@test
def every_thread_has_an_arena_and_a_cache():
    for count in (1, 4, 12):
        with HeapTarget("threads", count) as target:
            heap = check_target(target)
            # since glibc 2.42, a thread gets its cache when it first frees a block
            check(count <= heap["caches"] <= count + 1, f"{heap['caches']} caches")
            check(len(heap["arenas"]) > 1, "one arena only: the test proves nothing")


def rows_below(text, heading):
    """Return the rows of the table that begins with this heading."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.split()[:len(heading.split())] == heading.split():
            break
    return [row for row in iter(lambda: next(lines, ""), "") if not row.startswith("  and ")]


@test
def a_text_report_shows_few_arenas_unless_more_are_requested():
    with HeapTarget("threads", 12) as target:
        arenas = len(read_heap(target.pid)["arenas"])
        if arenas <= 5:
            raise Skip("this machine has too few CPUs for more than five arenas")
        short = memstate("heap", "-p", target.pid, *NO_HURRY).must_be(0).out.decode()
        whole = memstate("heap", "-p", target.pid, "--top", 100, *NO_HURRY).must_be(0).out.decode()
    equal(len(rows_below(short, "ARENA HEAPS")), 5, short)
    check(f"  and {arenas - 5} more (--top N)" in short, short)
    equal(len(rows_below(whole, "ARENA HEAPS")), arenas, whole)
    check(len(rows_below(short, "SIZE TO")) <= 5, short)
    lines = short.splitlines()
    check(len(lines) <= 78 and lines[-1].startswith("next: "), f"{len(lines)} lines: {short}")


@test
def arenas_of_threads_that_ended_are_known():
    with HeapTarget("exited", 6) as target:
        check_target(target)


@test
def aligned_blocks_are_known():
    with HeapTarget("aligned", 16) as target:
        check_target(target)


@test
def blocks_with_their_own_mappings_are_all_found():
    for count in (1, 24):
        with HeapTarget("mapped", count) as target:
            heap = check_target(target)
            equal(heap["mapped_count"], target.truth["hblks"], "mapped chunks")
            equal(heap["mapped_bytes"], target.truth["hblkhd"], "bytes of mapped chunks")


@test
def a_heap_with_foreign_memory_in_between_is_known():
    for size in (12344, 16, 4096, 100000):
        with HeapTarget("foreign", size) as target:
            check_target(target)


@test
def a_heap_whose_brk_is_blocked_is_known():
    with HeapTarget("blocked", 1) as target:
        heap = check_target(target)
        check(heap["arenas"][0]["heaps"] > 10, "one segment only: the test proves nothing")


@test
def a_forked_childs_heap_is_known():
    with HeapTarget("forked", 4) as target:
        check_target(target, trims=False)


@test
def cached_and_fast_blocks_are_counted():
    with HeapTarget("lists", 1000, tunables="glibc.malloc.mxfast=128") as target:
        heap = check_target(target)
        freed, has_fast = 500, target.truth["smblks"] > 0  # glibc 2.43 has no fastbins
        cached = 7 if has_fast else 16
        equal(heap["arenas"][0]["fast_count"], (freed - cached) * has_fast, "fast")
        small = [c for c in heap["classes"] if c["upper_bytes"] == 48][0]
        equal(small["cached_count"], cached, "cached blocks of 48 bytes")
        equal(small["free_count"], freed - cached, "free blocks of 48 bytes")
        check(500 <= small["live_count"] <= 510, "live blocks of 48 bytes")


@test
def the_zero_page_is_not_resident():
    with HeapTarget("zeros", 8) as target:
        check_target(target)


@test
def tunables_change_nothing():
    for tunables in ("glibc.malloc.tcache_count=0", "glibc.malloc.mxfast=0",
                     "glibc.malloc.arena_max=1", "glibc.malloc.top_pad=1000000",
                     "glibc.malloc.perturb=85", "glibc.malloc.mmap_threshold=16384",
                     "glibc.malloc.mmap_max=0", "glibc.malloc.tcache_max=64",
                     "glibc.malloc.trim_threshold=1000000"):
        for shape in (("fragmented", 8), ("threads", 3), ("mapped", 9)):
            with HeapTarget(*shape, tunables=tunables) as target:
                try:
                    check_target(target)
                except AssertionError as error:
                    raise AssertionError(f"{tunables} {shape}: {error}") from error


@test
def huge_pages_by_tunable_change_nothing():
    for value in (1,):
        for shape in (("fragmented", 32), ("threads", 3)):
            with HeapTarget(*shape, tunables=f"glibc.malloc.hugetlb={value}") as target:
                check_target(target)


@test
def a_static_programs_heap_is_known():
    if not os.path.exists(os.path.join(FOLDER, "heap_target_static")):
        raise Skip("static programs cannot be linked here")
    for shape in (("fragmented", 16), ("threads", 2), ("mapped", 5)):
        with HeapTarget(*shape, program="heap_target_static") as target:
            check_target(target)


@test
def states_that_cannot_be_distinguished_leave_margins_only():
    with HeapTarget("lazy", 8, tunables="glibc.malloc.mmap_max=0") as target:
        heap = check_target(target, trims=False)
        row = check_matrix(target.pid)
        check(row["lazyfree_bytes"] >= 3 * MIB, "no LazyFree: the test proves nothing")
        equal(row["live_lazyfree_bytes"], None, "a cell that cannot be determined")
        check(row["live_bytes"] > 8 * MIB, "live")
        equal(heap["unexplained_bytes"], 0, "unexplained")
    with HeapTarget("forked", 2) as target:
        check_matrix(target.pid)


@test
def a_process_that_never_used_malloc_is_unknown():
    with HeapTarget("nothing", 0) as target:
        result = memstate("heap", "-p", target.pid)
        if result.status == 0:  # something else in the process used malloc
            return
        equal(result.status, 1, "status")
        check(b"never used" in result.err, result.err)
        equal(result.out, b"", "output")


@test
def a_constantly_allocating_process_is_read_unharmed():
    with HeapTarget("churn", 3) as target:
        for _ in range(20):
            result = memstate("heap", "-p", target.pid, "-J", *NO_HURRY).must_be(0)
            heap = json.loads(result.out)
            equal(heap["unexplained_bytes"], 0, "unexplained")
            check(heap["heap_quality"] in ("exact", "estimate"), heap["heap_quality"])
        equal(target.process.poll(), None, "exit status of the target")
        equal(status_field(target.pid, "TracerPid"), "0", "tracer")


@test
def python_is_fully_explained():
    code = ("import json, re, decimal, email, http.client, sys\n"
            "data = [str(i) * 20 for i in range(100000)]\n"
            "print('ready', flush=True)\nsys.stdin.read()\n")
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            heap = read_heap(process.pid)
            equal(heap["heap_quality"], "exact", "quality")
            row = check_matrix(process.pid)
            check(row["live_bytes"] > MIB, "live")
        finally:
            process.kill()


@test
def missing_permission_is_reported_with_a_remedy():
    become = as_nobody()
    with HeapTarget("fragmented", 1) as target:
        result = memstate("heap", "-p", target.pid, preexec_fn=become).must_be(1)
        check(b"CAP_SYS_PTRACE" in result.err, result.err)
        equal(result.out, b"", "output")


@test
def an_ordinary_user_can_walk_their_own_process():
    become = as_nobody()
    with HeapTarget("threads", 2, preexec_fn=become) as target:
        result = memstate("heap", "-p", target.pid, "-J", *NO_HURRY,
                          preexec_fn=become).must_be(0)
        heap = json.loads(result.out)
        equal(heap["mallinfo2"], {key: target.truth[key] for key in MALLINFO}, "mallinfo2")


@test
def a_pause_that_would_be_too_long_is_refused():
    with HeapTarget("fragmented", 16) as target:
        result = memstate("heap", "-p", target.pid, "--max-pause", "1ms").must_be(1)
        check(b"--max-pause" in result.err, result.err)
        result = memstate("-p", target.pid, "--csv", "-n1", "--heap", "walk", "--max-pause", "1ms")
        row = result.must_be(3).rows()[0]
        check(b"--max-pause" in result.err, result.err)
        equal(row["live_bytes"], None, "live")
        check(row["anon_bytes"] > 8 * MIB, "anon")


@test
def only_named_processes_are_stopped():
    result = memstate("--csv", "-n1", "--heap", "walk").must_be(2)
    equal(result.out, b"", "output")


@test
def each_sample_of_a_series_includes_the_heap():
    with HeapTarget("fragmented", 2) as target:
        out = memstate("-p", target.pid, "--json", "-n3", "-i", "20ms", "--max-share", "100",
                       "-o", "live_bytes,heap_quality,unexplained_bytes").must_be(0).out
        lines = [json.loads(line)["processes"] for line in out.decode().splitlines()]
        equal(len(lines), 3, "samples")
        equal(len({line[0]["live_bytes"] for line in lines}), 1, "number of distinct live sizes")
        equal([line[0]["unexplained_bytes"] for line in lines], [0, 0, 0], "unexplained")
        equal(lines[0][0]["heap_quality"], "exact", "quality")
        # on a busy machine, a later sample may show the heap of an earlier one
        check({line[0]["heap_quality"] for line in lines} <= {"exact", "estimate"}, "quality")


run()
