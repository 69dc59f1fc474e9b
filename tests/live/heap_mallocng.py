# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap of musl's mallocng from outside: every block of the program, with
the size that the program requested, and no other block.

MEMSTATE_TEST_MUSL_GCC names compilers to use instead of musl-gcc, separated by colons, such
as those of other versions of musl.
"""

import contextlib
import json
import os
import random
import shutil
import subprocess

from heap_lib import HEAP_OWNERS, NO_HURRY, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

SOURCE = os.path.join(os.environ["srcdir"], "tests", "targets", "musl_target.c")
COMPILERS = [c for c in os.environ.get("MEMSTATE_TEST_MUSL_GCC", "musl-gcc").split(":") if shutil.which(c)]
LINKED = {"dynamic": [], "static": ["-static"], "static-pie": ["-static-pie", "-fPIE"], "stripped": ["-static", "-s"]}


def each_build(folder):
    """Build the target in each way; yield the name of the build and the program."""
    if not COMPILERS:
        raise Skip("musl-gcc is not installed")
    for compiler in COMPILERS:
        for name, options in LINKED.items():
            program = f"{folder}/{os.path.basename(compiler)}-{name}"
            result = subprocess.run([compiler, "-O1", *options, "-o", program, SOURCE, "-lpthread"],
                                    capture_output=True, text=True, check=False)
            if result.returncode == 0:
                yield name, program
            else:
                check(name == "static-pie", f"{compiler} {options}: {result.stderr}")


@contextlib.contextmanager
def running(program, *args):
    """Start the target; yield its pid and its blocks by address."""
    process = subprocess.Popen([program, *map(str, args)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        blocks = {}
        for line in process.stdout:
            if line == "ready\n":
                break
            addr, size = line.split()
            blocks[int(addr, 16)] = int(size)
        else:
            raise AssertionError(f"{program} {args} ended")
        yield process.pid, blocks
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()


def heap_of(pid):
    return json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)


def leaks_of(pid):
    return json.loads(memstate("leaks", "-p", pid, "--json", *NO_HURRY).must_be(0).out)


def explained(pid, addr):
    result = memstate("explain", "-p", pid, f"{addr:#x}", "--json", *NO_HURRY).must_be(0)
    return json.loads(result.out)["block"]


def check_blocks(name, pid, blocks):
    """Compare the sums, and some blocks one by one: the first, the last, the largest, and a sample."""
    found = leaks_of(pid)
    equal(found["live_count"], len(blocks), f"{name}: blocks")
    equal(found["live_bytes"], sum(blocks.values()), f"{name}: requested bytes")
    order = sorted(blocks)
    sample = {order[0], order[-1], max(order, key=blocks.get), *random.Random(7).sample(order, 12)}
    for addr in sample:
        block = explained(pid, addr)
        equal([int(block["addr"], 16), block["block_bytes"], block["state"]], [addr, blocks[addr], "live"],
              f"{name}: block at {addr:#x}")


@test
def every_block_is_found_with_its_requested_size():
    with Folder() as folder:
        for name, program in each_build(folder):
            with running(program, "blocks", 4, 4000) as (pid, blocks):
                wait_until(lambda pid=pid: is_in_state(pid, b"S"), "the program waits")
                heap = heap_of(pid)
                equal([heap["allocator"], heap["heap_quality"], heap["problem"]], ["musl", "exact", None], name)
                equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
                arena = heap["arenas"][0]
                equal(arena["live_count"] + heap["mapped_count"], len(blocks), f"{name}: blocks")
                check(arena["live_bytes"] + heap["mapped_bytes"] >= sum(blocks.values()), f"{name}: {heap}")
                check_blocks(name, pid, blocks)
                check_matrix(pid)


@test
def lost_blocks_are_leaks_and_others_are_not():
    with Folder() as folder:
        for name, program in each_build(folder):
            with running(program, "leak", 500, 100) as (pid, blocks):
                found = leaks_of(pid)
                equal(found["live_count"], 2 * len(blocks), f"{name}: blocks")
                # registers and unused memory may still contain a pointer to the last blocks
                leaked = found["direct_count"]
                check(len(blocks) - 4 <= leaked <= len(blocks), f"{name}: {leaked} of {len(blocks)} are leaked")
                equal(found["direct_bytes"], leaked * 100, f"{name}: leaked bytes")


@test
def a_busy_heap_is_exact_or_reported_as_an_estimate():
    with Folder() as folder:
        for name, program in each_build(folder):
            with running(program, "churn", 3) as (pid, _):
                for _ in range(5):
                    heap = heap_of(pid)
                    check(heap["heap_quality"] == "exact" or heap["problem"], f"{name}: {heap}")
                    equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
                    check(sum(heap[f"{owner}_resident_bytes"] for owner in HEAP_OWNERS) <= heap["rss_bytes"],
                          f"{name}: {heap}")


run()
