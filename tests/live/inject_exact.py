# SPDX-License-Identifier: GPL-2.0-or-later
"""After the helper is removed, a process is exactly as before the injection: mappings,
registers, signal masks and counters."""

import errno
import os

from inject_lib import (InjectTarget, check_same, descriptors, end_tool, facts, maps,
                        put_in_and_out, room_of, start_holding, threads, tool, was_put_in)
from live import MIB, Skip, check, equal, read_proc, run, status_field, test, wait_until

UINT64_MAX = 2 ** 64 - 1
MOST_STOPS = 20  # one attach
MOST_ROOM = MIB
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
MOST_JEMALLOC_ROOM = 16 * MIB  # a stack of 8 MiB, an arena and a cache


@test
def the_process_is_restored_in_every_visible_respect():
    with InjectTarget("still", 16) as target:
        seen, own = facts(target.pid), target.order(b"s")
        check(any(b"[heap]" in line for line in maps(target.pid)), "the target has no heap yet")
        for cycle in put_in_and_out(target, "-n", 5):
            check(0 < cycle["open_stops"] <= MOST_STOPS, f"stops: {cycle['open_stops']}")
            check(0 < cycle["close_stops"] <= MOST_STOPS, f"stops: {cycle['close_stops']}")
        check_same(seen, facts(target.pid))
        equal(target.order(b"s"), own, "figures of the target")
        target.check_whole()


@test
def the_helper_adds_one_thread_and_little_memory():
    with InjectTarget("still", 3) as target:
        seen, own, room = facts(target.pid), target.order(b"s"), room_of(target.pid)
        process = start_holding(target.pid)
        (helper,) = set(threads(target.pid)) - set(seen["threads"])
        # glibc's own signals 32 and 33 (bits 31 and 32 here) must get through; KILL and
        # STOP cannot be blocked
        free = ~int(status_field(f"{target.pid}/task/{helper}", "SigBlk"), 16) & UINT64_MAX
        equal(free, 1 << 31 | 1 << 32 | 1 << 8 | 1 << 18, "signals that the helper does not block")
        equal(descriptors(target.pid), seen["descriptors"], "descriptors")
        check(room_of(target.pid) - room <= MOST_ROOM, "the helper uses too much memory")
        equal(target.order(b"s"), own, "figures of the target")
        for tid in seen["threads"]:
            now = facts(target.pid)[f"status of {tid}"]
            same = [line for line in now if not line.startswith((b"Vm", b"Threads"))]
            check(set(same) <= set(seen[f"status of {tid}"]), f"status of {tid}: {now}")
        process.stdin.write(b"\n")
        process.stdin.flush()
        was_put_in(end_tool(process)[1][-1])
        check_same(seen, facts(target.pid))


@test
def no_register_changes():
    with InjectTarget("registers") as target:
        put_in_and_out(target, "-n", 10)
        target.check_goes_on()


@test
def restartable_sequences_are_restarted():
    with InjectTarget("rseq", 3) as target:
        target.check_goes_on()
        # the main thread is in a restartable sequence most of the time
        for cycle in tool(target.pid, "-n", 5, "-l", 300):
            check(-cycle["open"] in (0, errno.EAGAIN), f"open: {cycle}")
        target.check_goes_on()


@test
def a_query_that_would_stall_the_target_is_refused():
    with InjectTarget("chunks", 1000000) as target:
        for known in (1000000, UINT64_MAX):
            cycle = tool(target.pid, "-f", known)[0]
            equal((cycle["open"], cycle["ask"], cycle["close"]), (0, -errno.EFBIG, 0), "outcome")
            check(cycle["ask_reason"], "no reason given")
        cycle = tool(target.pid, "-f", 1000000, "-q", 2)[0]
        was_put_in(cycle)
        check(cycle["live_bytes"] >= 24 * 1000000, f"live: {cycle}")
        target.check_goes_on()


def background_threads(pid):
    """Return jemalloc's background threads, which it starts one at a
    time, slightly later."""
    return [tid for tid in threads(pid) if read_proc(f"{pid}/task/{tid}", "comm") == b"jemalloc_bg_thd\n"]


@test
def jemalloc_keeps_one_arena_and_one_background_thread_at_most():
    """Check SECURITY.md: jemalloc creates the arena and the background thread for the
    first thread that queries it, and reuses them for all others."""
    if not os.path.exists(JEMALLOC):
        raise Skip(f"{JEMALLOC} is not installed")
    environment = {**os.environ, "LD_PRELOAD": JEMALLOC, "MALLOC_CONF": "background_thread:true"}
    with InjectTarget("still", 0, env=environment) as target:
        wait_until(lambda: background_threads(target.pid), "jemalloc has its first background thread")
        own, room = set(threads(target.pid)), room_of(target.pid)
        put_in_and_out(target)
        wait_until(lambda: len(background_threads(target.pid)) == 2, "jemalloc has its second background thread")
        after = facts(target.pid)
        equal(set(threads(target.pid)) - own, set(background_threads(target.pid)[1:]), "threads that stay")
        check(room_of(target.pid) - room <= MOST_JEMALLOC_ROOM, "jemalloc uses too much address space")
        put_in_and_out(target, "-n", 5)
        equal(threads(target.pid), after["threads"], "threads after more cycles")
        equal(len(background_threads(target.pid)), 2, "background threads after more cycles")
        check(room_of(target.pid) - room <= MOST_JEMALLOC_ROOM, "each cycle takes more address space")
        target.check_whole()


@test
def a_process_without_its_first_thread_is_handled():
    with InjectTarget("no-main") as target:
        wait_until(lambda: status_field(target.pid, "State").startswith("Z"),
                   "the first thread has ended")
        before = threads(target.pid)
        for cycle in tool(target.pid, "-n", 3):
            check(cycle["open"] == 0 or cycle["steps"] == [], f"{cycle}")
        target.check_goes_on()
        equal(threads(target.pid), before, "threads")


run()
