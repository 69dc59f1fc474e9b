# SPDX-License-Identifier: GPL-2.0-or-later
"""Walk the heaps of constantly allocating processes COUNT times ("make stress-heap
COUNT=n"; not part of "make check"): every allocator and runtime that is installed here.

Each walk must succeed, its sums must be right, and its target must continue. Prints how
often each result occurred, with the reason if a heap was not read exactly, and stops at
the first error. Without MEMSTATE_STRESS_ONLY, a part of a name, all programs take turns.
"""

import collections
import contextlib
import ctypes.util
import itertools
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from churn_programs import churn_programs, yield_cpu  # pylint: disable=wrong-import-position
from heap_lib import FOLDER, NO_HURRY, HeapTarget  # pylint: disable=wrong-import-position
from live import (Folder, Skip, check, check_sums, equal, memstate,  # pylint: disable=wrong-import-position
                  read_proc, start_memstate, status_field, wait_until)

WALKS_PER_TARGET = 25
SECONDS_PER_TARGET = 20  # heap_target exits after a minute
TIMEOUT = 600  # seconds
THREADS = [1, 3, 12, 40]

found = collections.Counter()


def cpu_ticks(pid):
    words = read_proc(pid, "stat").rsplit(b")", 1)[1].split()
    return int(words[11]) + int(words[12])


PARTS = {"glibc": (("live", "cached", "fast", "bin", "top"), "system_bytes"),
         "mimalloc": (("live", "free"), "pages_in_use_bytes"),
         "tcmalloc": (("live", "cached", "free"), "spans_in_use_bytes")}


def check_arena(allocator, arena):
    names, whole = PARTS[allocator]
    check(sum(arena[f"{name}_bytes"] for name in names) <= arena[whole], f"arena: {arena}")


def walk(pid):
    heap = json.loads(memstate("heap", "-p", pid, "-J", *NO_HURRY, timeout=TIMEOUT).must_be(0).out)
    equal(heap["unexplained_bytes"], 0, "unexplained")
    if heap["heap_quality"] == "exact" and heap["allocator"] in PARTS:
        for arena in heap["arenas"]:
            check_arena(heap["allocator"], arena)
    reason = "" if heap["heap_quality"] == "exact" else f": {heap['problem']}"
    return f"heap {heap['heap_quality']}{reason}"


def sample(pid):
    rows = memstate("-p", pid, "--csv", "-n1", "--output-all", "--heap", "walk",
                    *NO_HURRY, timeout=TIMEOUT).must_be(0).rows()
    check_sums(rows[0])
    return f"row {rows[0]['heap_quality']}"


def sample_running(pid):
    rows = memstate("-p", pid, "--csv", "-n1", "--output-all", "--no-stop",
                    timeout=TIMEOUT).must_be(0).rows()
    equal(rows[0]["unexplained_bytes"], 0, "unexplained")
    return f"row of a running process {rows[0]['heap_quality']}"


def scan(pid, threads):
    result = memstate("leaks", "-p", pid, "-J", *NO_HURRY, timeout=TIMEOUT)
    if result.status != 0:
        return f"leaks status {result.must_be(1).status}"
    leaks = json.loads(result.out)
    # runtimes have leaks of their own
    if threads and leaks["leak_quality"] == "exact":
        # a block that a thread is about to return from malloc() may have no pointer yet
        check(leaks["direct_count"] <= threads, f"leaks: {leaks}")
    return f"leaks {leaks['leak_quality']}"


def kill_in_between(pid):
    process = start_memstate("heap", "-p", pid)
    time.sleep(random.random() * 0.05)
    process.kill()
    process.communicate()
    return "killed"


def stress(name, start, threads, count):
    """Stress one target; return the number of walks."""
    end, done = time.monotonic() + SECONDS_PER_TARGET, 0
    with start(threads) as process:
        pid = process.pid
        while done < count and time.monotonic() < end:
            ticks = cpu_ticks(pid)
            act = random.choice([walk, walk, sample, sample_running, kill_in_between,
                                 lambda pid: scan(pid, threads)])
            found[f"{name}: {act(pid)}"] += 1
            wait_until(lambda: cpu_ticks(pid) > ticks, "the target continues")
            equal(process.poll(), None, "exit status of the target")
            done += 1
        wait_until(lambda: status_field(pid, "TracerPid") == "0", "the target is released")
    return done


@contextlib.contextmanager
def heap_target(program, env, threads):
    with HeapTarget("churn", threads, program=program, more_env=env,
                    preexec_fn=yield_cpu) as target:
        yield target.process


def c_programs():
    """Return a function for each malloc that starts a C program with some threads."""
    programs = [(p, p, {}) for p in ("heap_target", "jemalloc_target") if
                os.path.exists(os.path.join(FOLDER, p))]
    for name, library in (("tcmalloc", "tcmalloc_minimal"), ("mimalloc", "mimalloc"),
                          ("jemalloc", "jemalloc")):
        path = ctypes.util.find_library(library)
        if path:
            programs.append((f"heap_target with {name}", "heap_target", {"LD_PRELOAD": path}))
    return {name: lambda threads, p=program, e=env: heap_target(p, e, threads)
            for name, program, env in programs}


def print_results():
    print(f"after {sum(found.values())}:", flush=True)
    for what, times in sorted(found.items()):
        print(f"{times:8} {what}", flush=True)


def main():
    left, only = int(sys.argv[1]), os.environ.get("MEMSTATE_STRESS_ONLY", "")
    with Folder() as folder:
        programs = {name: (start, True) for name, start in c_programs().items()}
        programs |= {name: (lambda threads, s=start: s(), False)
                     for name, start in churn_programs(folder).items()}
        programs = {name: what for name, what in programs.items() if only in name}
        for i in itertools.count():
            if left <= 0 or not programs:
                break
            name = list(programs)[i % len(programs)]
            start, has_threads = programs[name]
            threads = random.choice(THREADS) if has_threads else 0
            try:
                left -= stress(name, start, threads, min(left, WALKS_PER_TARGET))
            except Skip as skip:
                print(f"{name}: skipped: {skip}", file=sys.stderr)
                del programs[name]
            print_results()


main()
