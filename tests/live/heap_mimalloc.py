# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap of mimalloc from outside: every block of the program, with the
size that mimalloc reports.

MEMSTATE_TEST_MIMALLOC names libraries to use instead of that of the system, separated by
colons, such as those of other versions.
"""

import ctypes.util
import json
import os
import random
import shutil
import subprocess

from blocks_lib import SOURCE, check_churn, heap_of, leaks_of, running
from heap_lib import NO_HURRY, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "blocks_target")
NAMED = os.environ.get("MEMSTATE_TEST_MIMALLOC")
# blocks of libc: the buffer of stdout, and the TLS tables of the threads' stacks
OTHERS = 24
FILL = "for i = 1, 100000 do redis.call('set', 'key' .. i, string.rep('x', 200)) end"


def libraries():
    library = ctypes.util.find_library("mimalloc")
    if not NAMED and not library:
        raise Skip("mimalloc is not installed")
    return NAMED.split(":") if NAMED else [library]


def is_padded(library):
    """Return True for a secure build: a block ends with padding, which memstate counts."""
    return "secure" in library or library.endswith("-s.so")


def check_each(name, pid, blocks, padded):
    """Compare some blocks. An aligned block may begin inside a block of mimalloc."""
    order = sorted(blocks)
    sample = random.Random(7).sample(order, 200)
    addrs = sorted({order[0], order[-1], max(order, key=blocks.get), *sample})
    out = memstate("explain", "-p", pid, *map(hex, addrs), "--json", *NO_HURRY).must_be(0).out
    for addr, line in zip(addrs, out.splitlines(), strict=True):
        block = json.loads(line)["block"]
        check(block and block["state"] == "live", f"{name}: block at {addr:#x}: {line}")
        start, end = int(block["addr"], 16), int(block["addr"], 16) + block["block_bytes"]
        check(start <= addr, f"{name}: {addr:#x}, {block}")
        if padded:
            check(addr + blocks[addr] <= end, f"{name}: {addr:#x} + {blocks[addr]}, {block}")
        else:
            equal(end, addr + blocks[addr], f"{name}: end of the block at {addr:#x}")


def check_all(name, pid, blocks, padded=False):
    """No block is missing, and at most OTHERS others are found; compare some one by one."""
    wait_until(lambda: is_in_state(pid, b"S"), "the program waits")
    heap = heap_of(pid)
    equal([heap["allocator"], heap["heap_quality"], heap["problem"]], ["mimalloc", "exact", None], name)
    equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
    found = leaks_of(pid)
    for count in (heap["arenas"][0]["live_count"], found["live_count"]):
        check(0 <= count - len(blocks) <= OTHERS, f"{name}: {count} blocks, not {len(blocks)}")
    check_each(name, pid, blocks, padded)
    check_matrix(pid)


@test
def every_block_is_found_with_its_size():
    for library in libraries():
        with running(PROGRAM, "blocks", 4, 4000, LD_PRELOAD=library) as (pid, blocks):
            check_all(library, pid, blocks, is_padded(library))


@test
def blocks_that_another_thread_freed_are_not_live():
    for library in libraries():
        with running(PROGRAM, "foreign", 40000, 200, LD_PRELOAD=library) as (pid, blocks):
            check_all(library, pid, blocks, is_padded(library))


@test
def a_static_stripped_program_is_read():
    if not shutil.which("gcc"):
        raise Skip("gcc is not installed")
    with Folder() as folder:
        program = f"{folder}/program"
        result = subprocess.run(["gcc", "-O1", "-static", "-s", "-o", program, SOURCE, "-Wl,--whole-archive",
                                 "-lmimalloc", "-Wl,--no-whole-archive", "-lpthread"],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Skip(f"libmimalloc.a cannot be linked: {result.stderr.splitlines()[-1:]}")
        with running(program, "blocks", 2, 2000) as (pid, blocks):
            check_all("static", pid, blocks)


@test
def lost_blocks_are_leaks_and_others_are_not():
    for library in libraries():
        with running(PROGRAM, "leak", 500, 100, LD_PRELOAD=library) as (pid, blocks):
            # mimalloc has size classes of 112 and 128 bytes
            leaked = sum(group["blocks"] for group in leaks_of(pid)["leaked"]
                         if group["block_bytes"] in (112, 128))
            # registers and unused memory may still contain a pointer to the last blocks
            check(len(blocks) - 4 <= leaked <= len(blocks), f"{library}: {leaked} of {len(blocks)} are leaked")


@test
def the_page_lists_blocks_and_pages():
    for library in libraries():
        with running(PROGRAM, "blocks", 2, 2000, LD_PRELOAD=library) as (pid, _):
            text = memstate("heap", "-p", pid, *NO_HURRY).must_be(0).out.decode()
            heap = heap_of(pid)
        for words in ("mimalloc, exact", "free, in pages in use", "PAGES OF MIMALLOC", "mi_collect(true)"):
            check(words in text, f"{library}: no {words!r} in {text}")
        arena = heap["arenas"][0]
        equal(sum(c["live_count"] for c in heap["classes"]), arena["live_count"], "blocks of the classes")
        equal(sum(c["free_bytes"] for c in heap["classes"]), arena["free_bytes"], "free bytes of the classes")
        check(arena["live_bytes"] + arena["free_bytes"] <= arena["pages_in_use_bytes"], arena)
        equal(arena["trimmable_bytes"], None, "trimmable")


def ping(socket):
    return subprocess.run(["redis-cli", "-s", socket, "PING"], check=False, capture_output=True).stdout


@test
def redis_is_explained():
    """At most 5% of the anonymous memory of redis belongs to no heap."""
    if not shutil.which("redis-server"):
        raise Skip("redis-server is not installed")
    for library in libraries():
        with Folder() as folder:
            socket = f"{folder}/socket"
            process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                                        "--appendonly", "no"], stdout=subprocess.DEVNULL, cwd=folder,
                                       env={**os.environ, "LD_PRELOAD": library})
            try:
                # the socket exists before redis listens on it
                wait_until(lambda socket=socket: ping(socket) == b"PONG\n", "redis answers")
                subprocess.run(["redis-cli", "-s", socket, "EVAL", FILL, "0"], check=True, capture_output=True)
                row = memstate("-p", process.pid, "--csv", "-n1", "--output-all", *NO_HURRY).must_be(0).rows()[0]
                heaps = json.loads(memstate("heap", "-p", process.pid, "--json", *NO_HURRY).must_be(0).out)
            finally:
                process.kill()
                process.wait()
        # redis may be linked with jemalloc, which then has a small heap of its own
        names = [heap["heap"] for heap in heaps["heaps"] or []] or [heaps["allocator"]]
        check("mimalloc" in names, f"{library}: {names}")
        check(row["live_bytes"] > 20000000, row)
        check(row["anon_bytes"] <= row["rss_bytes"] / 20, f"{library}: {row['anon_bytes']} of {row['rss_bytes']}")
        equal(row["unexplained_bytes"], 0, f"{library}: unexplained")


@test
def a_busy_heap_is_exact_or_reported_as_an_estimate():
    for library in libraries():
        with running(PROGRAM, "churn", 3, LD_PRELOAD=library) as (pid, _):
            check_churn(library, pid)


run()
