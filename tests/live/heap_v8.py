# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads V8's heap from outside: each space of Node.js equals what
v8.getHeapSpaceStatistics() returns directly before and after the stop.

MEMSTATE_TEST_NODE names programs to use instead of node, separated by colons, such as those
of other versions: "make check-node-versions" tests Node.js 18, 20, 22 and 24.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess

from heap_lib import NO_HURRY, check_details, check_matrix
from live import Skip, check, equal, is_in_state, memstate, run, test, wait_until

SCRIPT = os.path.join(os.environ["srcdir"], "tests", "targets", "node_target.js")
NODES = [p for p in os.environ.get("MEMSTATE_TEST_NODE", "node:nodejs").split(":") if shutil.which(p)]
NODES = NODES if "MEMSTATE_TEST_NODE" in os.environ else NODES[:1]
HEADER_MAX = 20 << 10  # of a chunk: descriptor and guard pages
FIGURES_BYTES = 16 << 10  # objects that hold the figures: V8 allocates them while it counts
SWEPT_SHARE = 50  # at most 2 % of a space is allocated or swept meanwhile


def version_of(node):
    return subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def each_node():
    if not NODES:
        raise Skip("Node.js is not installed")
    for node in NODES:
        version = version_of(node)
        major = int(version.lstrip("v").split(".")[0])
        if major in (18, 20, 22, 24):
            yield node, major
        elif "MEMSTATE_TEST_NODE" not in os.environ:
            raise Skip(f"{node} is {version}, and memstate reads 18, 20, 22 and 24")


@contextlib.contextmanager
def stopped(node, *args, options=()):
    """Start the program; yield its pid and a function that returns V8's own figures."""
    process = subprocess.Popen([node, *options, SCRIPT, *args], stdout=subprocess.PIPE, text=True)

    def figures():
        process.send_signal(signal.SIGCONT)
        return json.loads(process.stdout.readline())

    try:
        wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
        yield process.pid, figures
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def heap_of(pid):
    report = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    check_details(report)
    return report


def spaces_of(heap):
    v8 = next(h for h in heap["heaps"] if h["heap"] == "v8")
    return v8, {space["space"]: space for space in v8["spaces"]}


def said_of(figures):
    """Return (lowest, highest) of V8's figures before and after the stop, by space.

    memstate counts the map space of Node.js 18 as old space.
    """
    said = {}
    for figure in ("space_used_size", "space_size"):
        for moment in ("before", "after"):
            sums = {}
            for space in figures[moment]:
                name = space["space_name"].replace("_", " ").replace("map space", "old space")
                sums[name] = sums.get(name, 0) + space[figure]
            for name, value in sums.items():
                low, high = said.get((figure, name), (value, value))
                said[figure, name] = (min(low, value), max(high, value))
    return said


def check_equal(found, said, name):
    """Check each space. V8 allocates while it counts, and its other threads may sweep: most
    figures before and after the stop are equal, and then memstate's figure is equal, too.
    """
    for (figure, space), (low, high) in said.items():
        if space not in found:
            equal((low, high), (0, 0), f"{name}, {space}")
            continue
        live, free = found[space]["live_bytes"], found[space]["free_bytes"]
        if figure == "space_used_size":
            check(low <= live <= high, f"{name}, {space}: {live}, V8 says {low} to {high}")
            check(high - low <= (FIGURES_BYTES if space == "new space" else high // SWEPT_SHARE),
                  f"{name}, {space}: V8 says {low} to {high}")
        else:
            headers = HEADER_MAX * found[space]["count"]
            check(low - headers <= live + free <= high, f"{name}, {space}: {found[space]}, {low} to {high}")
    check(set(found) - {"chunks kept for reuse"} <= {space for _, space in said}, f"{name}: {set(found)}")


def check_program(pid, figures, name, version):
    """Return the quality of the heap."""
    heap = heap_of(pid)
    v8, found = spaces_of(heap)
    equal(v8["version"], version, name)
    # a bound if the stop interrupts another thread of V8 that sweeps
    check(v8["quality"] in ("exact", "bound"), f"{name}: {v8['problem']}")
    equal([h["heap"] for h in heap["heaps"]], ["glibc", "v8"], f"{name}: heaps")
    equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
    row = check_matrix(pid, "-o", "+js_heap_bytes,js_live_bytes,malloc_heap_bytes")
    check(row["anon_bytes"] * 20 <= row["rss_bytes"], row)
    check(row["js_heap_bytes"] > row["js_live_bytes"] > 1 << 20, row)
    said = figures()
    check_equal(found, said_of(said), name)
    # the memory of buffers is in malloc's heap
    check(heap["heaps"][0]["live_resident_bytes"] >= said["external"], f"{name}: {heap['heaps'][0]}")
    return v8["quality"]


@test
def each_space_equals_that_of_v8():
    for node, major in each_node():
        version, qualities = version_of(node), []
        for options in ((), ("--expose-gc",), ("--single-threaded", "--expose-gc")):
            with stopped(node, options=options) as (pid, figures):
                qualities.append(check_program(pid, figures, f"Node.js {major} {options}", version))
        check("exact" in qualities, f"Node.js {major}: {qualities}")


@test
def the_heaps_of_workers_count_too():
    for node, major in each_node():
        with stopped(node, "worker") as (pid, figures):
            v8, found = spaces_of(heap_of(pid))
            said = said_of(figures())
            check(v8["quality"] in ("exact", "bound"), f"Node.js {major}: {v8['problem']}")
            # the worker has a quarter of the main thread's objects
            for space in ("old space", "large object space", "new space"):
                low, high = said["space_used_size", space]
                check(found[space]["live_bytes"] >= low + (low // 10 if space != "new space" else 0),
                      f"Node.js {major}, {space}: {found[space]}, main thread {low} to {high}")


@test
def objects_of_v8_are_roots_of_leaks():
    for node, major in each_node():
        with stopped(node) as (pid, _):
            heap = heap_of(pid)
            leaks = json.loads(memstate("leaks", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
            equal(leaks["live_count"], sum(a["live_count"] for a in heap["arenas"]) + heap["mapped_count"], node)
            check((leaks["direct_bytes"] + leaks["indirect_bytes"]) * 10 <= leaks["live_bytes"],
                  f"Node.js {major}: {leaks['direct_bytes']} {leaks['live_bytes']}")


COLLECTING = """
const keep = [];
for (let i = 0; i < 300000; i++) keep.push({ i, list: [i] });
let is_done = false;
process.on("SIGUSR1", () => { is_done = true; });
console.log("ready");
function collect() {
  gc();
  if (is_done) process.kill(process.pid, "SIGSTOP");
  else setImmediate(collect);
}
collect();
"""
READS_MAX = 100


@test
def a_collection_in_progress_makes_an_estimate():
    """memstate repeats the pause during a collection. This program collects most of the time."""
    for node, _ in each_node():
        with subprocess.Popen([node, "--expose-gc", "-e", COLLECTING],
                              stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                for _ in range(READS_MAX):
                    heap = next(h for h in heap_of(process.pid)["heaps"] if h["heap"] == "v8")
                    equal(heap["problem"] is None, heap["quality"] == "exact", f"{node}: a reason")
                    if heap["problem"] == "V8 was collecting garbage":
                        break
                equal([heap["quality"], heap["problem"]], ["estimate", "V8 was collecting garbage"],
                      f"{node}: during a collection")
                process.send_signal(signal.SIGUSR1)
                wait_until(lambda pid=process.pid: is_in_state(pid, b"T"),
                           "the program has stopped itself")
                heap = next(h for h in heap_of(process.pid)["heaps"] if h["heap"] == "v8")
                check(heap["quality"] in ("exact", "bound"), f"{node}: afterwards: {heap['problem']}")
            finally:
                process.kill()


run()
