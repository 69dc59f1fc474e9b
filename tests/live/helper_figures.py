# SPDX-License-Identifier: GPL-2.0-or-later
"""--heap helper: the allocator's own figures, with a walk and without, in all formats.

Processes that must not get a helper are left unchanged.
"""

import ctypes.util
import json
import os
import shutil
import signal
import subprocess

from heap_lib import FOLDER, MALLINFO, NO_HURRY, HeapTarget
from inject_lib import InjectTarget, check_same, facts
from live import (HEAP_OWNERS, KIB, MIB, OWNERS, STATES, Folder, Skip, check, equal, memstate, run,
                  start_memstate, status_field, stop, test, wait_until)

HELPER = ("--heap", "helper")
BLOCK = 1000  # bytes per block of compare_target
SYS_MMAP = 9


def asked(pid, *args, status=0):
    result = memstate("heap", "-p", pid, "-J", *HELPER, *NO_HURRY, *args).must_be(status)
    return json.loads(result.out), result


def row_of(pid, *args):
    result = memstate("-p", pid, "--csv", "-n1", "--output-all", *HELPER, *NO_HURRY,
                      *args).must_be(0)
    return result.rows()[0], result


def library(name):
    path = ctypes.util.find_library(name)
    if not path:
        raise Skip(f"lib{name} is not installed")
    return path


class Leaking(HeapTarget):
    """Allocates this many bytes, and then keeps allocating and freeing one block."""

    def __init__(self, mib, **more):
        self.bytes = mib * MIB // BLOCK * BLOCK
        self.mib = mib
        super().__init__("leaking", mib, 0, program="compare_target", **more)

    def read_until(self, word):
        wait_until(lambda: int(status_field(self.pid, "RssAnon").split()[0]) * KIB > self.bytes and
                   status_field(self.pid, "State").startswith("S"), "the target has allocated its blocks")
        return {}

    def wait_for_rest(self):
        pass


def check_sums(row):
    equal(row["unexplained_bytes"], 0, "unexplained")
    equal(sum(row[f"{o}_bytes"] or 0 for o in OWNERS), row["rss_bytes"], "sum of owners")
    equal(sum(row[f"{s}_bytes"] for s in STATES), row["rss_bytes"], "sum of states")


@test
def glibc_figures_of_an_idle_process_match_the_walk():
    for shape in (("fragmented", 4), ("mapped", 3), ("threads", 3)):
        with HeapTarget(*shape) as target:
            heap, _ = asked(target.pid)
            said, walked = heap["helper"]["values"], heap["helper"]["walked"]
            for name, value in walked.items():
                equal(value, said[name], f"{shape}: {name}")
            equal(set(walked), set(MALLINFO) - {"usmblks"}, "compared figures")
            equal(heap["helper"]["apart_bytes"], 0, "apart_bytes")
            # the target's own mallinfo2(), within what an additional thread takes
            for name in ("arena", "hblkhd", "uordblks", "fordblks"):
                check(abs(said[name] - target.truth[name]) <= 64 * KIB,
                      f"{shape}: {name}: {said[name]}, {target.truth[name]}")
            check(heap["helper"]["live_at_most_bytes"] >= heap["live_resident_bytes"],
                  "upper bound of live bytes")
            cached = sum(arena["cached_bytes"] for arena in heap["arenas"])
            for o in ("pool_pages", "pool_fragments"):
                check(heap["helper"][f"{o}_at_most_bytes"] + cached >=
                      heap[f"{o}_resident_bytes"] >= heap["helper"][f"{o}_at_least_bytes"],
                      f"{shape}: bounds of {o}")
            check(heap["helper"]["live_at_least_bytes"] <= heap["live_resident_bytes"] + cached,
                  "lower bound")


@test
def jemalloc_figures_of_an_idle_process_match_the_walk():
    with HeapTarget("fragmented", 4, program="jemalloc_target",
                    more_env={"LD_PRELOAD": library("jemalloc"),
                              "MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1"}) as target:
        heap, _ = asked(target.pid)
        equal(heap["helper"]["allocator"], "jemalloc", "allocator")
        equal(heap["helper"]["apart_bytes"], 0, "apart_bytes")
        for o in HEAP_OWNERS:
            check(heap["helper"][f"{o}_at_most_bytes"] >= heap[f"{o}_resident_bytes"] >=
                  heap["helper"][f"{o}_at_least_bytes"], f"bounds of {o}")


# a library that reports its figures as mimalloc does, but has no heap of mimalloc
UNKNOWN_MALLOC = r"""
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
static char *next, *end;
static size_t used;
void *malloc(size_t bytes)
{
	size_t whole = (bytes + 31) & ~(size_t)15;
	if (whole > (size_t)(end - next)) {
		size_t part = whole > 1 << 20 ? whole : 1 << 20;
		next = mmap(NULL, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = next + part;
	}
	memcpy(next, &bytes, sizeof(bytes));
	used += whole;
	next += whole;
	return next - whole + 16;
}
void free(void *block)
{
	size_t whole = block ? (((size_t *)block)[-2] + 31) & ~(size_t)15 : 0;
	used -= whole;
	if (block && (char *)block - 16 + whole == next) /* only the last block is used again */
		next -= whole;
}
void *calloc(size_t count, size_t bytes) { return memset(malloc(count * bytes), 0, count * bytes); }
void *realloc(void *block, size_t bytes)
{
	void *copy = malloc(bytes);
	size_t old = block ? ((size_t *)block)[-2] : 0;
	return block ? memcpy(copy, block, old < bytes ? old : bytes) : copy;
}
void mi_process_info(size_t *a, size_t *b, size_t *c, size_t *d, size_t *e, size_t *commit,
		     size_t *g, size_t *h)
{
	*a = *b = *c = *d = *e = *g = *h = 0;
	*commit = used;
}
"""


@test
def owners_of_allocators_that_cannot_be_walked_are_bounds():
    if not shutil.which("gcc"):
        raise Skip("gcc is not installed")
    with Folder() as folder:
        path = f"{folder}/libmimalloc.so"
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", path, "-x", "c", "-"],
                       input=UNKNOWN_MALLOC, text=True, check=True)
        check_bounds(path)


def check_bounds(path):
    with Leaking(16, more_env={"LD_PRELOAD": path}) as target:
        row, result = row_of(target.pid)
        equal(result.complaints(), [], "errors")
        equal((row["allocator"], row["heap_quality"], row["heap_source"]),
              ("mimalloc", "bound", "helper"), "allocator, quality, source")
        check(target.bytes <= row["live_bytes"] <= 8 * target.bytes + 2 * MIB,
              f"live: {row['live_bytes']}, {target.bytes}")
        check_sums(row)
        heap, _ = asked(target.pid)
        equal(heap["heap_quality"], "bound", "quality")
        check(heap["helper"]["live_at_least_bytes"] <= target.bytes * 1.1, "the lower bound is too high")
        check(heap["helper"]["live_at_most_bytes"] >= target.bytes, "upper bound of live bytes")
        equal(heap["arenas"], None, "arenas")


@test
def mimalloc_is_walked_and_its_figures_are_shown_beside():
    with Leaking(16, more_env={"LD_PRELOAD": library("mimalloc")}) as target:
        heap, _ = asked(target.pid)
        equal([heap["allocator"], heap["heap_quality"]], ["mimalloc", "exact"], "allocator, quality")
        check(target.bytes <= heap["live_resident_bytes"] <= target.bytes * 1.1 + 2 * MIB,
              f"live: {heap['live_resident_bytes']}, {target.bytes}")
        check(heap["helper"]["live_at_most_bytes"] >= heap["live_resident_bytes"], heap["helper"])


@test
def tcmalloc_figures_of_an_idle_process_match_the_walk():
    with Leaking(16, more_env={"LD_PRELOAD": library("tcmalloc_minimal")}) as target:
        heap, _ = asked(target.pid)
        equal([heap["allocator"], heap["heap_quality"]], ["tcmalloc", "exact"], "allocator, quality")
        check(target.bytes <= heap["live_resident_bytes"] <= target.bytes * 1.1 + 2 * MIB,
              f"live: {heap['live_resident_bytes']}, {target.bytes}")
        for o in [o for o in HEAP_OWNERS if o != "heap_meta"]:  # tcmalloc does not report its own data
            check(heap["helper"][f"{o}_at_most_bytes"] >= heap[f"{o}_resident_bytes"] >=
                  heap["helper"][f"{o}_at_least_bytes"], f"bounds of {o}: {heap}")


def check_left_alone(pid, words, walks=True):
    """Check that the process is unchanged, the reason is reported, and its
    heap is walked."""
    before = facts(pid)
    row, result = row_of(pid)
    check(any(words in line for line in result.errors()), f"{words}: {result.errors()}")
    check(words in row["heap_problem"], f"heap_problem: {row['heap_problem']}")
    equal(row["heap_source"], "walk" if walks else None, "source of the owners")
    equal(row["said_live_bytes"], None, "figures of the allocator")
    check_sums(row)
    check_same(before, facts(pid))


@test
def a_process_with_a_seccomp_filter_is_left_alone_and_walked():
    with InjectTarget("filtered", f"kill:{SYS_MMAP}") as target:
        wait_until(lambda: status_field(target.pid, "Seccomp") == "2", "the filter is installed")
        target.wait_until_parked()
        check_left_alone(target.pid, "seccomp")


@test
def a_static_program_is_left_alone_and_walked():
    with HeapTarget("fragmented", 2, program="heap_target_static") as target:
        check_left_alone(target.pid, "static")


@test
def a_stopped_process_is_left_alone_and_walked():
    with HeapTarget("fragmented", 2) as target:
        stop(target.pid)
        check_left_alone(target.pid, "stop")
        # after the walk, the process returns to its group stop
        wait_until(lambda: status_field(target.pid, "State")[0] == "T", "the process is stopped again")


@test
def with_no_stop_no_helper_is_injected():
    with HeapTarget("fragmented", 2) as target:
        before = facts(target.pid)
        _, result = row_of(target.pid, "--no-stop")
        check(any("injecting one is not permitted" in line for line in result.errors()), result.errors())
        check_same(before, facts(target.pid))


@test
def a_stall_is_refused_unless_it_is_allowed():
    with InjectTarget("chunks", 120000) as target:
        heap, result = asked(target.pid)
        equal(heap["helper"], None, "helper")
        check("--allow-stall" in heap["helper_problem"], heap["helper_problem"])
        check(any(" ms " in line and "--allow-stall" in line for line in result.errors()),
              result.errors())
        heap, _ = asked(target.pid, "--allow-stall")
        check(heap["helper"]["values"]["ordblks"] >= 100000,
              f"ordblks: {heap['helper']['values']}")


@test
def the_allocators_own_report_is_included_on_request():
    with HeapTarget("fragmented", 2) as target:
        heap, _ = asked(target.pid, "--malloc-info")
        check(heap["helper"]["text"].startswith("<malloc version"), heap["helper"]["text"][:40])
        heap, _ = asked(target.pid)
        equal(heap["helper"]["text"], None, "text")


@test
def a_command_is_started_with_the_helper():
    command = (os.path.join(FOLDER, "compare_target"), "steady", "8", "1500")
    result = memstate("--csv", "-i", "100ms", "--max-share", "100",
                      "-o", "pid,said_live_bytes,heap_problem", *HELPER,
                      *NO_HURRY, "--", *command).must_be(0)
    said = [row["said_live_bytes"] for row in result.rows() if row["said_live_bytes"]]
    check(said and max(said) >= 8 * MIB // BLOCK * BLOCK, f"live bytes reported by the helper: {said}")


def start_series(pid):
    """Start a series and wait until a helper in the process has answered."""
    process = start_memstate("-p", pid, "--csv", "-i", "100ms", "--no-headings",
                             "-o", "said_live_bytes", *HELPER, *NO_HURRY)
    while not process.stdout.readline().strip():
        check(process.poll() is None, "the series ended too early")
    return process


@test
def the_helper_is_removed_however_a_series_ends():
    with HeapTarget("fragmented", 2) as target:
        asked(target.pid)  # libc keeps what it allocates for the first additional thread
        before = facts(target.pid)
        for number in (signal.SIGINT, signal.SIGTERM, None):
            process = start_series(target.pid)
            if number:
                process.send_signal(number)
            process.stdout.close()  # the next row does not fit into a pipe without a reader
            process.stderr.read()
            process.wait()
            check_same(before, facts(target.pid))


run()
