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

from heap_lib import HEAP_OWNERS, NO_HURRY, check_details, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

PYTHONS = [p for p in os.environ.get("MEMSTATE_TEST_PYTHON", "/usr/bin/python3").split(":")
           if os.access(p, os.X_OK)]

# The arguments of kill() exist before the figures are printed: nothing is allocated later.
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
    report = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    check_details(report)
    return report


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


OBJECTS = """
import collections, gc, json, os, signal
class WithDict:
    def __init__(self, i):
        self.number, self.list = i, [i]
class Slots:
    __slots__ = ("number", "text")
    def __init__(self, i):
        self.number, self.text = i, i
keep = [[WithDict(i) for i in range(3000)], [Slots(i) for i in range(5000)],
        [set([i]) for i in range(600)], [collections.deque() for i in range(7)]]
untracked = {"float": [i + 0.5 for i in range(9000)],
             "bytearray": [bytearray(9) for i in range(800)],
             "complex": [complex(i, 1) for i in range(400)]}
def count():
    counts = collections.Counter()
    for o in gc.get_objects():
        counts[type(o).__name__] += 1
    return counts
gc.collect()
count()
print(json.dumps(count()))
print(json.dumps({name: len(objects) for name, objects in untracked.items()}), flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""

# Types whose objects the collector always tracks, and that are never larger than 512 bytes.
TRACKED = ("WithDict", "Slots", "list", "set", "deque", "function", "method_descriptor", "cell",
           "builtin_function_or_method", "wrapper_descriptor", "property", "module")

PINS = """
import os, signal
class Pin:
    __slots__ = ("a", "b")
    def __init__(self):
        self.a = self.b = None
all = [Pin() for i in range(200000)]
all[:] = all[::2000]
print(len(all), flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@contextlib.contextmanager
def stopped_after(python, program):
    """Start the program; yield its pid and the lines that it printed before it stopped."""
    with subprocess.Popen([python, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
            yield process.pid, os.read(process.stdout.fileno(), 1 << 16).splitlines()
        finally:
            process.kill()


def objects_of(pid):
    """Return the objects of the heap, and their counts by the last part of the type's name."""
    heap = python_heap(heap_of(pid))
    objects, counts = heap["objects"], {}
    for row in objects["types"]:
        name = row["type"].split(".")[-1]
        counts[name] = counts.get(name, 0) + row["count"]
    for unit in ("count", "bytes"):
        equal(sum(row[unit] for row in objects["types"]) + objects[f"other_{unit}"],
              sum(c[f"live_{unit}"] for c in heap["classes"]), f"{unit} of all types")
    return objects, counts


@test
def the_objects_of_each_type_are_those_of_the_collector():
    if not PYTHONS:
        raise Skip("no Python interpreter to examine")
    for python in PYTHONS:
        with stopped_after(python, OBJECTS) as (pid, lines):
            objects, counts = objects_of(pid)
            tracked, untracked = (json.loads(line) for line in lines)
            for name in TRACKED:
                equal(counts[name], tracked[name], f"{python}: {name}")
            for name, count in untracked.items():
                check(count <= counts[name] <= count + 100, f"{python}: {name}: {counts[name]}")
            equal(objects["problem"], None, f"{python}: problem")
            slots = next(row for row in objects["types"] if row["type"].endswith("Slots"))
            equal(slots["bytes"] % slots["count"], 0, f"{python}: objects of one size")
            text = memstate("heap", "-p", pid, *NO_HURRY).must_be(0).out
            check(re.search(rb"\n +5000 +[0-9.]+[KM]  Slots\n", text), text)


@test
def objects_that_keep_nearly_empty_arenas_are_named():
    if not PYTHONS:
        raise Skip("no Python interpreter to examine")
    with stopped_after(PYTHONS[0], PINS) as (pid, lines):
        objects, counts = objects_of(pid)
        kept = int(lines[0])
        pin = next(p for p in objects["pins"] if p["type"] == "Pin")
        equal(counts["Pin"], kept, "objects")
        check(kept * 0.7 <= pin["blocks"] <= kept, pin)
        check(pin["arenas"] * 10 >= objects["nearly_empty_arenas"] * 9 > 0, objects)
        check(objects["nearly_empty_free_bytes"] * 10 >= objects["nearly_empty_arenas"] * 9 << 18, objects)


run()
