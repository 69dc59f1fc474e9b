# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads PartitionAlloc, Chromium's malloc, from outside: the slots of each
partition equal Chromium's own dump (memory-infra) directly before and after the stop.

MEMSTATE_TEST_CHROMIUM names another program to use instead of Chromium.
"""

import json
import os
import re
import subprocess
import tempfile
import time

import browser_lib
from heap_lib import NO_HURRY
from live import KIB, MIB, Skip, check, equal, memstate, read_proc_if_alive, run, test

if "MEMSTATE_TEST_CHROMIUM" in os.environ:
    browser_lib.NAMES = [os.environ["MEMSTATE_TEST_CHROMIUM"]]

BUFFERS = 50  # ArrayBuffers of different sizes, and a large one with its own reservation
LARGE_BYTES = 20 * MIB
PAGE = """<script>
let kept = [];
for (let i = 0; i < %d; i++)
    kept.push(new Uint8Array(100000 + i * 1000).fill(i));
kept.push(new Uint8Array(%d).fill(7));
for (let i = 0; i < 100000; i++)
    kept.push({number: i, text: "x" + i, list: [i, i + 1]});
for (let i = 0; i < 10000; i++) {
    let element = document.createElement("div");
    element.textContent = "element " + i + " with a text";
    document.body.appendChild(element);
}
document.title = "ready";
</script>""" % (BUFFERS, LARGE_BYTES)
# partitions that change only when the page does; others change during a dump
QUIET = ["partition_alloc/partitions/array_buffer", "partition_alloc/partitions/buffer",
         "malloc/partitions/original"]
BUSY = "malloc/partitions/allocator"
BUSY_SHARE = 0.5  # at most half of the slots during a dump belong to the dump itself
UNKNOWN_MAX = 0.05  # of Rss
VERSIONS = (150, 156)  # whose layouts memstate was tested with
TRACED = {"recordMode": "recordUntilFull", "memoryDumpConfig": {"triggers": []},
          "includedCategories": ["disabled-by-default-memory-infra"], "excludedCategories": ["*"]}


def take_dump(browser):
    """Return {pid: {path: {attribute: value}}} of all processes of the browser."""
    session, browser.session = browser.session, None
    browser.call("Tracing.start", transferMode="ReportEvents", traceConfig=TRACED)
    browser.call("Tracing.requestMemoryDump", levelOfDetail="detailed")
    browser.number += 1
    os.write(browser.to, json.dumps({"id": browser.number, "method": "Tracing.end"}).encode() + b"\0")
    end = time.monotonic() + browser_lib.LIMIT_S
    dump = {}
    while True:
        message = browser.receive(end)
        if message.get("method") == "Tracing.tracingComplete":
            break
        if message.get("method") != "Tracing.dataCollected":
            continue
        for event in message["params"]["value"]:
            if event.get("ph") != "v":
                continue
            for path, node in event["args"]["dumps"].get("allocators", {}).items():
                dump.setdefault(event["pid"], {})[path] = {
                    name: int(value["value"], 16)
                    for name, value in node.get("attrs", {}).items() if value["type"] == "scalar"}
    browser.session = session
    return dump


def find_children(pid):
    own = [int(child) for child in read_proc_if_alive(f"{pid}/task/{pid}", "children").split()]
    return own + [below for child in own for below in find_children(child)]


def find_renderer(dump):
    """Return the process that shows the page, which has the most ArrayBuffers."""
    sizes = {pid: paths.get(QUIET[0], {}).get("allocated_size", 0) for pid, paths in dump.items()}
    return max(sizes, key=sizes.get)


def sums_of(dump, path):
    node = dump.get(path, {})
    return node.get("allocated_objects_count"), node.get("allocated_size")


def sums_of_arena(arena):
    # PartitionAlloc counts the slots in the caches of threads as allocated
    return (arena["live_count"] + arena["cached_count"], arena["live_bytes"] + arena["cached_bytes"])


def find_version():
    said = subprocess.run([browser_lib.find_browser(), "--version"], stdout=subprocess.PIPE, check=True)
    return int(re.search(rb"(\d+)\.", said.stdout)[1])


def read_heap(pid):
    heap = json.loads(memstate("heap", "-p", pid, "-J", *NO_HURRY).must_be(0).out)
    for _ in range(4):
        # a thread may be in the middle of a call, with the partition locked
        if heap["heap_quality"] == "exact":
            break
        heap = json.loads(memstate("heap", "-p", pid, "-J", *NO_HURRY).must_be(0).out)
    if heap["heap_quality"] == "unknown" and find_version() not in VERSIONS:
        raise Skip(f"memstate was not tested with this version of Chromium: {heap['problem']}")
    equal(heap["allocator"], "PartitionAlloc", f"{pid}: allocator")
    equal(heap["heap_quality"], "exact", f"{pid}: quality ({heap['problem']})")
    equal(heap["unexplained_bytes"], 0, f"{pid}: the parts add up to Rss")
    return heap


def check_quiet(before, after, arenas):
    checked = 0
    for path in QUIET:
        wanted = sums_of(before, path)
        if None in wanted or wanted != sums_of(after, path):
            continue
        check(wanted in [sums_of_arena(arena) for arena in arenas],
              f"{path}: {wanted} is not in {arenas}")
        checked += 1
    check(checked >= 2, f"{checked} partitions did not change during the test")


def check_busy(before, after, arenas):
    size = after[BUSY]["virtual_size"]
    found = [arena for arena in arenas if arena["system_bytes"] == size and arena["cached_count"] > 0]
    check(len(found) == 1, f"{size} bytes: {arenas}")
    for index, what in enumerate(["slots", "bytes"]):
        figure = sums_of_arena(found[0])[index]
        both = [sums_of(dump, BUSY)[index] for dump in (before, after)]
        check(min(both) * BUSY_SHARE <= figure <= max(both), f"{what}: {figure}, dumps: {both}")


def check_uses(before, after, heap):
    """The named ranges contain at least the live objects, and at most what was committed."""
    uses = {use["use"]: use["rss_bytes"] for use in heap["uses"]}
    blink = uses["Blink garbage-collected heap"]
    check(min(d["blink_gc/main/heap"]["allocated_objects_size"] for d in (before, after)) <= blink
          <= max(d["blink_gc/main/heap"]["committed_size"] for d in (before, after)) + MIB,
          f"Blink: {blink}")
    v8 = uses["V8 JavaScript heap"]
    check(v8 <= max(d["v8"]["size"] for d in (before, after)) + MIB, f"V8: {v8}")
    check(v8 >= MIB, f"V8: {v8}")


@test
def partitions_equal_chromiums_own_dump():
    with tempfile.TemporaryDirectory() as folder, browser_lib.Browser() as browser:
        path = os.path.join(folder, "page.html")
        with open(path, "w", encoding="ascii") as f:
            f.write(f"<body>{PAGE}</body>")
        browser.open(path)
        browser.wait("document.title === 'ready'", "the page has allocated")
        first = take_dump(browser)  # takes memory of its own
        pid = find_renderer(first)
        before = take_dump(browser)[pid]
        if QUIET[0] not in before:
            raise Skip("Chromium does not dump its partitions")
        heap = read_heap(pid)
        after = take_dump(browser)[pid]
        arenas = heap["arenas"]
        check_quiet(before, after, arenas)
        check_busy(before, after, arenas)
        buffers = sums_of_arena(max(arenas, key=lambda arena: arena["live_bytes"]))
        check(buffers[0] >= BUFFERS + 1, f"ArrayBuffers: {buffers}")
        check(buffers[1] >= LARGE_BYTES + sum(100000 + i * 1000 for i in range(BUFFERS)),
              f"ArrayBuffers: {buffers}")
        # the caches of the threads: 1.5 KiB of metadata each, as the dump says
        cached = after.get(f"{BUSY}/thread_cache", {})
        main = after.get(f"{BUSY}/thread_cache/main_thread", {})
        equal(heap["caches"], cached["metadata_overhead"] // main["metadata_overhead"], "caches")
        check_uses(before, after, heap)
        equal(browser.run("kept.length"), BUFFERS + 1 + 100000, "the page still runs")


@test
def hardly_any_memory_of_chromium_is_unknown():
    with browser_lib.Browser() as browser:
        pids = [browser.process.pid, *find_children(browser.process.pid)]
        seen = set()
        for pid in pids:
            if b"chromium" not in read_proc_if_alive(pid, "maps"):
                continue
            heap = read_heap(pid)
            # Chromium replaces the separators of its command line by blanks
            kind = [word for word in read_proc_if_alive(pid, "cmdline").replace(b"\0", b" ").split()
                    if word.startswith(b"--type=")]
            seen.add(kind[0] if kind else b"browser")
            share = heap["unknown_anon_bytes"] / heap["rss_bytes"]
            check(share <= UNKNOWN_MAX, f"{pid} {kind}: {share:.1%} of {heap['rss_bytes'] // KIB}K unknown")
        check(len(seen) >= 3, f"kinds of processes: {seen}")


@test
def leaks_are_not_searched():
    with browser_lib.Browser() as browser:
        result = memstate("leaks", "-p", browser.process.pid, *NO_HURRY).must_be(1)
        check(b"garbage-collected heaps" in result.err, result.err)


if __name__ == "__main__":
    run()
