#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""If random pages of a process are swapped out, figures of its heaps that memstate calls exact are
those of the intact heap, and bounds are on the stated side of them. `make check-qemu-swapped` runs
this in a guest with swap, and prints the qualities."""

import json
import os
import subprocess
import sys

from live import KIB, TIMEOUT, Skip, check, equal, memstate, run, test

# Fill the heap with holes, then swap out random pages on request.
PROGRAM = r"""
import ctypes, os, random
MADV_PAGEOUT, PAGE = 21, 4096
madvise = ctypes.CDLL(None).madvise
madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
generator = random.Random(1)
blocks = [bytes(generator.randrange(1, 600)) for _ in range(40000)]
for i in range(0, len(blocks), 3):
    blocks[i] = None
os.write(1, b"ready\n")
while True:
    order = os.read(0, 64).split()
    if not order:
        break
    generator.seed(int(order[1]))
    pages = []
    with open("/proc/self/maps") as f:
        for line in f:
            fields = line.split()
            if fields[1] == "rw-p" and (len(fields) < 6 or fields[5] == "[heap]"):
                start, end = (int(x, 16) for x in fields[0].split("-"))
                pages += [a for a in range(start, end, PAGE)]
    chosen = [a for a in pages if generator.random() < float(order[0])]
    for a in chosen:
        madvise(a, PAGE, MADV_PAGEOUT)
    pages = chosen = None
    os.write(1, b"done\n")
"""

# Python allocates or frees less than this between two readings of its heap.
SLACK = 64 * KIB


def live_bytes(heap):
    return sum(c["live_bytes"] for c in heap["classes"])


class Target:
    """Python with a heap that has holes; it swaps pages out on request."""

    def __init__(self, **environment):
        self.process = subprocess.Popen([sys.executable, "-s", "-S", "-c", PROGRAM],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, **environment})
        equal(self.process.stdout.readline(), b"ready\n", "start")

    def swap_out(self, share, seed):
        self.process.stdin.write(f"{share} {seed}\n".encode())
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), b"done\n", "answer")

    def swapped_bytes(self):
        with open(f"/proc/{self.process.pid}/smaps_rollup") as f:
            return sum(int(line.split()[1]) * KIB for line in f if line.startswith("Swap:"))

    def heaps(self):
        """Return the heaps by name; none if memstate says that it could not read them."""
        done = memstate("heap", "-p", self.process.pid, "--json", "--max-pause", "60s")
        if not done.out:
            check(b"the heap could not be read" in done.err, f"message: {done.err}")
            return {}
        return {h["heap"]: h for h in json.loads(done.out)["heaps"]}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate(timeout=TIMEOUT)


def check_heap(name, now, intact):
    """Check the live bytes of a heap, part of which is swapped out. Return the quality."""
    quality, problem = now["quality"], now["problem"] or ""
    if quality == "unknown":
        return "unknown"
    live, wanted = live_bytes(now), live_bytes(intact)
    what = f"{name}: {live} instead of {wanted} live bytes, {quality}: {problem}"
    if quality == "exact":
        check(abs(live - wanted) <= SLACK, what)
    elif "not counted" in problem and "count as live" not in problem:
        check(live <= wanted + SLACK, what)
    elif "count as live" in problem and "not counted" not in problem:
        check(live >= wanted - SLACK, what)
    return quality


def check_all(wanted, **environment):
    with open("/proc/swaps") as f:
        if len(f.readlines()) < 2:
            raise Skip("no swap")
    with Target(**environment) as target:
        target.swap_out(0, 0)
        intact = target.heaps()
        check(wanted in intact, f"heaps: {list(intact)}")
        equal(intact[wanted]["quality"], "exact", f"with all pages: {intact[wanted]['problem']}")
        for seed, share in enumerate((0.002, 0.01, 0.05, 0.3, 0.9)):
            target.swap_out(share, seed)
            check(share < 0.05 or target.swapped_bytes() > 0, "nothing is swapped out")
            now = target.heaps()
            for name in intact:
                quality = check_heap(name, now[name], intact[name]) if name in now else "not found"
                print(f"{name}, {share:.1%} of the pages: {quality}", flush=True)


def preloaded(name):
    path = f"/usr/lib/x86_64-linux-gnu/{name}"
    if not os.path.exists(path):
        raise Skip(f"{path} is not installed")
    return {"LD_PRELOAD": path, "PYTHONMALLOC": "malloc"}


@test
def pools_of_python():
    check_all("python")


@test
def glibc():
    check_all("glibc", PYTHONMALLOC="malloc")


@test
def jemalloc():
    check_all("jemalloc", **preloaded("libjemalloc.so.2"))


@test
def tcmalloc():
    check_all("tcmalloc", **preloaded("libtcmalloc_minimal.so.4"))


@test
def mimalloc():
    check_all("mimalloc", **preloaded("libmimalloc.so.2"))


if __name__ == "__main__":
    run()
