# SPDX-License-Identifier: GPL-2.0-or-later
"""Each heap of a process has its own fill levels, map and pins. A Python program frees known
blocks of Python and of malloc; its list of the blocks that it keeps shows how the pages of both
heaps must change."""

import contextlib
import json
import os
import platform
import re
import signal
import subprocess

from heap_lib import NO_HURRY, check_details
from live import Skip, check, equal, is_in_state, memstate, parse_csv, run, test, wait_until

PYTHON = "/usr/bin/python3"
PAGE = 4096
FRAGMENTED = 2048  # a page counts as fragmented if this much of it is free
HEAD = 48  # of a pool
CHUNK_HEAD = 16
NOISE = 12  # pages that the interpreter changes in the meantime

# In each pool that has only blocks of the program, one block remains, at a different place in
# each pool. Of malloc's blocks, every third one remains.
PROGRAM = """
import ctypes, json, os, signal, sys
POOL = int(sys.argv[1])
libc = ctypes.CDLL("libc.so.6")
# malloc and free of libc, even if another library replaces them
malloc, free = libc.__libc_malloc, libc.__libc_free
malloc.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
small = [bytes(400) for i in range(18000)]
pools = {}
for i, block in enumerate(small):
    pools.setdefault(id(block) // POOL, []).append(i)
full = {pool: sorted(members, key=lambda i: id(small[i])) for pool, members in pools.items()
        if len(members) == (POOL - 48) // 448}
keep = {members[k % len(members)] for k, members in enumerate(full.values())}
gone = [i for members in full.values() for i in members if i not in keep]
large = [malloc(3000) for i in range(3000)]
for block in large:
    ctypes.memset(block, 1, 3000)
print(json.dumps({"pools": [pool * POOL for pool in full], "kept": [id(small[i]) for i in keep],
                  "large": large[::3], "freed": [b for i, b in enumerate(large) if i % 3]}),
      flush=True)
kill, pid, stop = os.kill, os.getpid(), signal.SIGSTOP
write, done = os.write, b"done\\n"
kill(pid, stop)
for i in gone:
    small[i] = None
for i, block in enumerate(large):
    if i % 3:
        free(block)
write(1, done)
kill(pid, stop)
"""


def pool_bytes():
    """Return the size of Python's pools, as Python itself prints it."""
    text = subprocess.run([PYTHON, "-c", "import sys; sys._debugmallocstats()"], check=True,
                          stderr=subprocess.PIPE).stderr.decode(errors="replace")
    return int(re.search(r"unused pools \* (\d+) bytes", text)[1])


@contextlib.contextmanager
def program(**env):
    """Start the program; yield its pid and its lists once it has stopped before it frees
    anything."""
    if not os.access(PYTHON, os.X_OK) or platform.libc_ver()[0] != "glibc":
        raise Skip("no Python interpreter with glibc to examine")
    size = pool_bytes()
    with subprocess.Popen([PYTHON, "-c", PROGRAM, str(size)], stdout=subprocess.PIPE,
                          env={**os.environ, **env}) as process:
        try:
            lists = json.loads(process.stdout.readline())
            wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
            yield process, {**lists, "pool_bytes": size}
        finally:
            process.kill()


def let_it_free(process):
    process.send_signal(signal.SIGCONT)
    equal(process.stdout.readline(), b"done\n", "the program's line")
    wait_until(lambda: is_in_state(process.pid, b"T"), "the program has freed its blocks")


def read_heaps(pid, names=("glibc", "python")):
    report = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    heaps = {heap["heap"]: heap for heap in report["heaps"]}
    equal(sorted(heaps), sorted(names), "heaps")
    check_details(report)
    return report, heaps


def used_of_pages(ranges):
    """Return how many bytes of each page are in these ranges."""
    used = {}
    for start, end in ranges:
        while start < end:
            stop = min(end, start // PAGE * PAGE + PAGE)
            used[start // PAGE] = used.get(start // PAGE, 0) + stop - start
            start = stop
    return used


def level_of(used):
    """Return the fill level of a page, as the report names it."""
    if used in (0, PAGE):
        return "0%" if used == 0 else "100%"
    return ("1-25%", "26-50%", "51-75%", "76-99%")[(4 * used - 1) // PAGE]


def levels_of(heap):
    return {row["in_use"]: row["pages"] for row in heap["detail"]["pages"]}


def expected_pages(lists):
    """Return how many bytes of each page of the program's pools must be in use."""
    size = lists["pool_bytes"]
    count = (size - HEAD) // 448
    used = {page: 0 for pool in lists["pools"]
            for page in range(pool // PAGE, (pool + size) // PAGE)}
    ranges = [(block, block + 448) for block in lists["kept"]]
    for pool in lists["pools"]:
        ranges += [(pool, pool + HEAD), (pool + HEAD + count * 448, pool + size)]
    used.update(used_of_pages(ranges))
    return used


def near(value, wanted, what, noise=NOISE):
    check(abs(value - wanted) <= noise, f"{what}: {value}, wanted {wanted} +- {noise}")


@test
def the_pages_of_python_are_filled_as_its_blocks_say():
    with program() as (process, lists):
        _, before = read_heaps(process.pid)
        let_it_free(process)
        _, after = read_heaps(process.pid)
        used = expected_pages(lists)
        check(len(lists["pools"]) > 300, len(lists["pools"]))
        wanted = {level: 0 for level in levels_of(after["python"])}
        wanted["100%"] = -len(used)
        for page in used.values():
            wanted[level_of(page)] += 1
        for level, pages in levels_of(after["python"]).items():
            near(pages - levels_of(before["python"])[level], wanted[level], level)
        pages = used_of_pages((block, block + 448) for block in lists["kept"])
        pins = [page for page in pages if PAGE - used[page] >= FRAGMENTED]
        row, = (t for t in after["python"]["detail"]["types"] if t["size_bytes"] == 448)
        near(row["pinned_pages"], len(pins), "pinned pages")
        near(row["pinning_count"], len(lists["kept"]), "pinning blocks")


def check_malloc(heap, lists):
    """Check which pages the remaining blocks of malloc keep in use."""
    kept = used_of_pages((b - CHUNK_HEAD, b + 2992) for b in lists["large"])
    freed = used_of_pages((b - CHUNK_HEAD, b + 2992) for b in lists["freed"])
    pages = [p for p in kept if FRAGMENTED <= freed.get(p, 0) < PAGE]
    check(len(pages) > 300, len(pages))
    row, = (t for t in heap["detail"]["types"] if t["size_bytes"] == 3000)
    near(row["pinned_pages"], len(pages), "pinned pages")
    check(len(lists["large"]) <= row["live_count"] <= len(lists["large"]) + NOISE, row)


@test
def the_pages_of_malloc_beside_it_are_pinned_by_the_blocks_that_remain():
    with program() as (process, lists):
        let_it_free(process)
        _, heaps = read_heaps(process.pid)
        check_malloc(heaps["glibc"], lists)


@test
def a_second_malloc_has_details_and_size_classes_too():
    library = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    if not os.access(library, os.R_OK):
        raise Skip("no libjemalloc")
    with program(LD_PRELOAD=library) as (process, lists):
        let_it_free(process)
        report, heaps = read_heaps(process.pid, ("glibc", "jemalloc", "python"))
        check_malloc(heaps["glibc"], lists)
        check(heaps["jemalloc"]["detail"]["types"], "no blocks of jemalloc")
        second = next(h for h in report["heaps"] if h["heap"] != report["allocator"])
        check(second["heap"] in ("glibc", "jemalloc"), second["heap"])
        size, = (c for c in second["classes"] if c["lower_bytes"] <= 3008 <= c["upper_bytes"])
        check(second["heap"] != "glibc" or size["live_count"] >= len(lists["large"]), size)
        check(size["cached_count"] is not None, size)


@test
def the_map_of_each_heap_shows_where_its_free_pages_are():
    with program() as (process, lists):
        let_it_free(process)
        _, heaps = read_heaps(process.pid)
        strip, = heaps["python"]["detail"]["map"]
        equal([strip["arena"], strip["pages_per_cell"]], [None, 1], "the map of Python")
        check(int(strip["start"], 16) <= min(lists["pools"]), strip["start"])
        check(int(strip["end"], 16) >= max(lists["pools"]) + lists["pool_bytes"], strip["end"])
        free_pages = sum(cell == 0 for cell in strip["used_percent"])
        equal(free_pages, levels_of(heaps["python"])["0%"], "free pages")
        equal([s["arena"] for s in heaps["glibc"]["detail"]["map"]][0], 0, "the map of malloc")


@test
def text_and_csv_contain_both_heaps():
    with program() as (process, _):
        let_it_free(process)
        report, heaps = read_heaps(process.pid)
        text = memstate("heap", "-p", process.pid, *NO_HURRY).must_be(0).out.decode()
        malloc, python = text.split("\nPython objects", 1)
        for part, map_title in ((malloc, "Arena 0: "), (python, "Pages in address order: ")):
            for words in ("PAGES IN USE", "ON PAGES", map_title):
                equal(part.count(words), 1, f"{words} in {part}")
        rows = parse_csv(memstate("heap", "-p", process.pid, "--csv", *NO_HURRY).must_be(0).out)
        for name, heap in heaps.items():
            own = [r for r in rows if r["heap"] == name]
            pages = [r for r in own if (r["kind"], r["state"]) == ("page", "resident")]
            equal({r["name"]: int(r["count"]) for r in pages}, levels_of(heap), f"pages of {name}")
            types = [r for r in own if (r["kind"], r["state"]) == ("type", "live")]
            equal([int(r["count"]) for r in types],
                  [t["live_count"] for t in heap["detail"]["types"]], f"blocks of {name}")
        for key in heaps["glibc"]["detail"]:
            equal(report[key], heaps["glibc"]["detail"][key], f"{key} of the first heap")


run()
