# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the arenas of Python's object allocator from outside: all figures equal
those that Python itself prints at the same moment.

MEMSTATE_TEST_PYTHON names interpreters to use instead of /usr/bin/python3, separated by
colons, such as those of other versions.
"""

import contextlib
import json
import os
import re
import signal
import subprocess

from heap_lib import HEAP_OWNERS, NO_HURRY, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

PYTHONS = [p for p in os.environ.get("MEMSTATE_TEST_PYTHON", "/usr/bin/python3").split(":")
           if os.access(p, os.X_OK)]

# The arguments of kill() exist before the figures are printed, so that nothing is allocated afterwards.
PROGRAM = """
import os, random, signal, sys
random.seed(7)
keep = [str(i) * 3 for i in range(60000)]
table = {i: (i, [i]) for i in range(40000)}
del keep[::2]
for i in range(0, 40000, 3): del table[i]
crowd = [bytearray(random.randrange(1, 480)) for i in range(60000)]
crowd = [b for b in crowd if random.random() < FRACTION]
kill, args = os.kill, (os.getpid(), signal.SIGSTOP)
sys._debugmallocstats()
kill(*args)
"""

FIGURES = {
    "arenas": r"# arenas allocated current += +([0-9,]+)",
    "live_bytes": r"# bytes in allocated blocks += +([0-9,]+)",
    "free_bytes": r"# bytes in available blocks += +([0-9,]+)",
    "free_pools": r"^([0-9,]+) unused pools \* ",
    "head_bytes": r"# bytes lost to pool headers += +([0-9,]+)",
}


@contextlib.contextmanager
def stopped(python, fraction="0.2", **env):
    """Start the program; yield its pid and Python's own figures."""
    with Folder() as folder:
        with open(f"{folder}/figures", "w+", encoding="ascii", errors="replace") as figures:
            process = subprocess.Popen([python, "-c", PROGRAM.replace("FRACTION", fraction)],
                                       stderr=figures, env={**os.environ, **env})
            try:
                wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
                figures.seek(0)
                yield process.pid, figures.read()
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()


def figures_of(text):
    found = {name: re.search(pattern, text, re.M) for name, pattern in FIGURES.items()}
    return {name: int(match[1].replace(",", "")) for name, match in found.items()}


def heap_of(pid):
    return json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)


def python_heap(heap):
    return next((h for h in heap["heaps"] if h["heap"] == "python"), None)


def check_equal(heap, text, name):
    said = figures_of(text)
    python = python_heap(heap)
    spaces = {space["space"]: space for space in python["spaces"]}
    equal([python["quality"], python["problem"]], ["exact", None], name)
    equal(spaces["arenas"]["count"], said["arenas"], f"{name}: arenas")
    equal(spaces["pools in use"]["live_bytes"], said["live_bytes"], f"{name}: allocated")
    equal(spaces["pools in use"]["free_bytes"], said["free_bytes"], f"{name}: available")
    equal(spaces["free pools"]["count"], said["free_pools"], f"{name}: free pools")
    equal(spaces["pools in use"]["count"] * 48, said["head_bytes"], f"{name}: heads of pools")
    equal(sum(c["live_bytes"] for c in python["classes"]), said["live_bytes"], f"{name}: size classes")
    check(python["live_resident_bytes"] <= said["live_bytes"], f"{name}: more is resident than allocated")


@test
def all_figures_equal_those_of_python():
    if not PYTHONS:
        raise Skip("no Python interpreter to examine")
    for python in PYTHONS:
        for fraction in ("0.02", "0.9"):
            with stopped(python, fraction) as (pid, text):
                heap = heap_of(pid)
                check_equal(heap, text, f"{python}, {fraction}")
                equal(heap["unexplained_bytes"], 0, f"{python}: unexplained")
                equal(len(heap["heaps"]), 2, f"{python}: heaps")
                for owner in HEAP_OWNERS:
                    equal(heap[f"{owner}_resident_bytes"],
                          sum(h[f"{owner}_resident_bytes"] for h in heap["heaps"]), f"{python}: {owner}")
                check_matrix(pid)


@test
def at_most_a_twentieth_of_rss_remains_anon():
    if not PYTHONS:
        raise Skip("no Python interpreter to examine")
    with stopped(PYTHONS[0]) as (pid, _):
        row = memstate("--csv", "-n1", "-p", pid, "-o", "+python_heap_bytes,python_live_bytes,malloc_heap_bytes",
                       "--heap", "walk", *NO_HURRY).must_be(0).rows()[0]
        check(row["anon_bytes"] * 20 <= row["rss_bytes"], row)
        check(row["python_heap_bytes"] > row["python_live_bytes"] > 1 << 20, row)
        equal(row["live_bytes"] + row["pool_pages_bytes"] + row["pool_fragments_bytes"] + row["heap_meta_bytes"],
              row["python_heap_bytes"] + row["malloc_heap_bytes"], "the heaps' sum")


@test
def the_malloc_beneath_does_not_matter():
    library = next((f"/usr/lib/x86_64-linux-gnu/{name}" for name in ("libjemalloc.so.2",)
                    if os.path.exists(f"/usr/lib/x86_64-linux-gnu/{name}")), None)
    if not PYTHONS or not library:
        raise Skip("no Python interpreter or no libjemalloc")
    with stopped(PYTHONS[0], LD_PRELOAD=library) as (pid, text):
        heap = heap_of(pid)
        equal([h["heap"] for h in heap["heaps"]], ["jemalloc", "python"], "heaps")
        check_equal(heap, text, "with jemalloc")
        check_matrix(pid)


@test
def without_pymalloc_there_is_no_such_heap():
    if not PYTHONS:
        raise Skip("no Python interpreter to examine")
    with stopped(PYTHONS[0], PYTHONMALLOC="malloc") as (pid, _):
        heap = heap_of(pid)
        equal(python_heap(heap), None, "a heap of Python")
        equal([heap["allocator"], heap["heap_quality"]], ["glibc", "exact"], "the heap")


@test
def leaks_examines_only_blocks_of_malloc():
    """Objects in the arenas are roots: what they refer to is reachable."""
    if not PYTHONS:
        raise Skip("no Python interpreter to examine")
    with stopped(PYTHONS[0]) as (pid, _):
        heap = heap_of(pid)
        leaks = json.loads(memstate("leaks", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
        arena = heap["arenas"][0]
        equal(leaks["live_count"], sum(a["live_count"] for a in heap["arenas"]) + heap["mapped_count"], arena)
        check((leaks["direct_bytes"] + leaks["indirect_bytes"]) * 100 <= leaks["live_bytes"], leaks["direct_bytes"])


run()
