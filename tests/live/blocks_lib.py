# SPDX-License-Identifier: GPL-2.0-or-later
"""A program whose blocks are known (tests/targets/blocks_target.c), and what memstate finds
in it."""

import contextlib
import json
import os
import random
import subprocess

from heap_lib import HEAP_OWNERS, NO_HURRY
from live import check, equal, memstate

SOURCE = os.path.join(os.environ["srcdir"], "tests", "targets", "blocks_target.c")


@contextlib.contextmanager
def running(program, *args, **more_env):
    """Start the target; yield its pid and its blocks by address."""
    process = subprocess.Popen([program, *map(str, args)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env={**os.environ, **more_env})
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


def check_blocks(name, pid, blocks, others=0):
    """Compare the sums, and some blocks one by one: the first, the last, the largest, and a sample.

    At most `others` more blocks are those of libraries.
    """
    found = leaks_of(pid)
    more = found["live_count"] - len(blocks)
    check(0 <= more <= others, f"{name}: {found['live_count']} blocks, not {len(blocks)}")
    if others == 0:
        equal(found["live_bytes"], sum(blocks.values()), f"{name}: usable bytes")
    order = sorted(blocks)
    sample = {order[0], order[-1], max(order, key=blocks.get), *random.Random(7).sample(order, 12)}
    for addr in sample:
        block = explained(pid, addr)
        equal([int(block["addr"], 16), block["block_bytes"], block["state"]], [addr, blocks[addr], "live"],
              f"{name}: block at {addr:#x}")


def check_churn(name, pid):
    """Read a heap five times while threads allocate and free."""
    for _ in range(5):
        heap = heap_of(pid)
        check(heap["heap_quality"] == "exact" or heap["problem"], f"{name}: {heap}")
        equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
        check(sum(heap[f"{owner}_resident_bytes"] for owner in HEAP_OWNERS) <= heap["rss_bytes"],
              f"{name}: {heap}")
