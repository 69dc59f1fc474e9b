# SPDX-License-Identifier: GPL-2.0-or-later
"""Heaps of processes that are not stopped: figures are approximate and labelled so, and
the process is unharmed."""

import json
import time

from heap_lib import HeapTarget, check_matrix, read_heap
from live import (KIB, MIB, Target, Traced, as_nobody, check, equal, memstate, read_proc, run,
                  status_field, test)

SECONDS = 1.5
SHARE = 10  # percent: permitted error
TRIES = 40  # a busy machine may preempt memstate during the copy


def read_running(pid):
    heap = json.loads(memstate("heap", "-p", pid, "--no-stop", "-J").must_be(0).out)
    equal(heap["heap_quality"], "estimate", "quality")
    equal(heap["unexplained_bytes"], 0, "unexplained")
    equal(heap["mallinfo2"], None, "mallinfo2")
    equal(heap["caches"], None, "caches")
    equal(heap["readings"], 3, "readings")
    equal(heap["pause_s"], 0, "pause")
    return heap


def live_bytes(heap):
    known = [a["live_bytes"] for a in heap["arenas"] if a["live_bytes"] is not None]
    return sum(known) + heap["mapped_bytes"]


def add_up(heap, *keys):
    return sum(arena[key] for arena in heap["arenas"] for key in keys)


@test
def an_idle_target_has_the_free_bytes_of_a_stopped_one():
    for shape in (("fragmented", 16), ("threads", 4), ("exited", 3), ("mapped", 9), ("foreign", 4096),
                  ("blocked", 1)):
        with HeapTarget(*shape) as target:
            stopped = read_heap(target.pid)
            running = read_running(target.pid)
            for key in ("bin_bytes", "bin_count", "top_bytes"):
                equal(add_up(running, key), add_up(stopped, key), f"{shape}: {key}")
            equal(running["mapped_bytes"], stopped["mapped_bytes"], f"{shape}: mapped")
            # caches are not recognized in a running process, so their blocks
            # count as live
            more = live_bytes(running) - live_bytes(stopped) - add_up(stopped, "cached_bytes",
                                                                      "fast_bytes")
            check(0 <= more <= stopped["caches"] * 2 * KIB, f"{shape}: {more} more are live")
            for owner in ("live", "pool_pages", "pool_fragments", "heap_meta"):
                equal(running[f"{owner}_spread_bytes"], 0, f"{shape}: spread of {owner}")


def is_within_the_bound(target):
    before = target.order(b"h")["held"]
    live = live_bytes(read_running(target.pid))
    after = target.order(b"h")["held"]
    least, most = min(before, after), max(before, after)
    return least * (100 - SHARE) <= live * 100 <= most * (100 + SHARE)


@test
def a_churning_target_is_within_the_error_bound():
    for threads, tunables in ((1, None), (3, None), (3, "glibc.malloc.arena_max=1"),
                              (2, "glibc.malloc.tcache_count=0")):
        with HeapTarget("churn", threads, tunables=tunables) as target:
            met = tries = 0
            while met < 5:
                met += is_within_the_bound(target)
                tries += 1
                check(tries < TRIES, f"{threads} threads, {tunables}: {met} of {tries}")
            check_matrix(target.pid, "--no-stop", is_still=False)
            equal(target.process.poll(), None, "exit status of the target")


@test
def the_target_is_never_stopped_or_traced():
    with HeapTarget("fragmented", 4) as target:
        with Traced(target.pid) as tracer:
            # fails if memstate attached, since there may be only one tracer
            read_running(target.pid)
            equal(status_field(target.pid, "TracerPid"), str(tracer), "tracer")


@test
def the_memory_of_the_target_is_unchanged():
    with HeapTarget("zeros", 8) as target:
        before = read_proc(target.pid, "smaps")
        read_running(target.pid)
        equal([line for line in read_proc(target.pid, "smaps").splitlines()
               if line.startswith((b"Rss:", b"Referenced:", b"LazyFree:", b"Swap:"))],
              [line for line in before.splitlines()
               if line.startswith((b"Rss:", b"Referenced:", b"LazyFree:", b"Swap:"))], "smaps")


@test
def the_report_is_labelled_approximate():
    with HeapTarget("threads", 2) as target:
        text = memstate("heap", "-p", target.pid, "--no-stop").must_be(0).out
        check(b"estimate; not paused, read 3 times" in text, text)
        check(b"READINGS WITHIN" in text and b"tcaches and fastbins" in text, text)
        check(b"mallinfo2" not in text, text)
        row = check_matrix(target.pid, "--no-stop", is_still=True)
        equal(row["heap_quality"], "estimate", "quality")


@test
def a_pause_limit_has_no_effect():
    with HeapTarget("fragmented", 16) as target:
        memstate("heap", "-p", target.pid, "--no-stop", "--max-pause", "1ms").must_be(0)


@test
def targets_that_exec_exit_or_unmap_cause_no_failure():
    for shape in (("exec-loop",), ("exit-loop",), ("churn", 2)):
        with Target(*shape) as target:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                result = memstate("heap", "-J", "--no-stop", "-p", target.pid)
                check(result.status in (0, 1, 3), f"{shape}: {result.status}, {result.err}")


@test
def missing_permission_is_reported_with_a_remedy():
    become = as_nobody()
    with HeapTarget("fragmented", 1) as target:
        result = memstate("heap", "--no-stop", "-p", target.pid, preexec_fn=become).must_be(1)
        check(b"CAP_PERFMON" in result.err or b"CAP_SYS_PTRACE" in result.err, result.err)
        equal(result.out, b"", "output")


run()
