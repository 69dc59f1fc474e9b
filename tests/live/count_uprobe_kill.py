# SPDX-License-Identifier: GPL-2.0-or-later
"""A memstate that is killed while it counts with breakpoints leaves none in the process.

usage: count_uprobe_kill.py [COUNT]: kill memstate COUNT times (default 6)
"""

import os
import random
import signal
import sys
import time

from live import OrderedTarget, Skip, check, equal, run, start_memstate, test, wait_until

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 6
TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "uprobe_target")
# seconds: the first part of the removal, in which a kill left breakpoints most often
CLOSING_S = 0.008
STARTING_S = 0.12  # seconds: a little longer than setting the breakpoints takes


def code(pid):
    """Return the bytes of all executable file mappings of the process."""
    found = {}
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            fields = line.split()
            if "x" in fields[1] and fields[-1].startswith("/"):
                start, end = (int(word, 16) for word in fields[0].split("-"))
                memory.seek(start)
                found[line] = memory.read(end - start)
    check(found, "no code was found")
    return found


def count(pid, way, *options):
    memstate = start_memstate("count", "-p", pid, "--probe", way, "--csv", *options)
    if not memstate.stdout.readline():
        error = memstate.stderr.read().decode()
        for word in ("not permitted", "this kernel has no", "Permission denied"):
            if word in error:
                raise Skip(error.strip())
        raise AssertionError(error)
    return memstate


def kill(process):
    process.kill()
    process.wait()


def check_kills(way, times, kill_one):
    rng = random.Random(way)
    with OrderedTarget([TARGET]) as target:
        before = code(target.pid)
        for i in range(times):
            kill_one(target.pid, rng)
            wait_until(lambda: code(target.pid) == before, f"no breakpoint is left, {way} {i}")
        check(target.order(b"p"), "the target does not answer")


@test
def a_kill_while_breakpoints_are_removed_leaves_none():
    def kill_at_end(pid, rng):
        memstate = count(pid, "bpf", "-n", 1, "-i", "1ms")
        memstate.stdout.readline()  # the only row; memstate now begins to remove the breakpoints
        time.sleep(rng.random() * CLOSING_S)
        kill(memstate)
    check_kills("bpf", COUNT, kill_at_end)


@test
def a_kill_while_breakpoints_are_set_or_count_leaves_none():
    def kill_at_any_time(pid, rng):
        memstate = start_memstate("count", "-p", pid, "--probe", "bpf", "--csv", "-i", "1ms")
        time.sleep(rng.random() * STARTING_S)
        kill(memstate)
    check_kills("bpf", COUNT, kill_at_any_time)


@test
def a_kill_leaves_no_breakpoints_of_perf():
    def kill_at_end(pid, rng):
        memstate = count(pid, "perf", "-n", 1, "-i", "1ms")
        memstate.stdout.readline()
        time.sleep(rng.random() * CLOSING_S)
        kill(memstate)
    check_kills("perf", max(1, COUNT // 6), kill_at_end)


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        children = f.read().split()
    equal(len(children), 1, "children of memstate")
    return int(children[0])


@test
def without_its_guard_it_stops_and_the_next_run_cleans_up():
    with OrderedTarget([TARGET]) as target:
        before = code(target.pid)
        memstate = count(target.pid, "bpf", "-i", "10ms")
        check(code(target.pid) != before, "no breakpoints during the count")
        os.kill(child_of(memstate.pid), signal.SIGKILL)
        _, err = memstate.communicate(timeout=60)
        equal(memstate.returncode, 1, f"status: {err!r}")
        check(b"guard" in err, err)
        again = count(target.pid, "bpf", "-n", 1, "-i", "1ms")
        again.communicate(timeout=60)
        equal(again.returncode, 0, "status of the next run")
        check(code(target.pid) == before, "a breakpoint is left")


run()
