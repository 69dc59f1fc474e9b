# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads Ruby's slot pages from outside: pages, live and free slots equal GC.stat and
ObjectSpace.count_objects directly before and after the stop.

MEMSTATE_TEST_RUBY names programs to use instead of ruby, separated by colons.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess

from heap_lib import NO_HURRY, check_details, check_matrix
from live import Skip, check, equal, is_in_state, memstate, run, test, wait_until

RUBIES = [p for p in os.environ.get("MEMSTATE_TEST_RUBY", "ruby").split(":") if shutil.which(p)]

PROGRAM = """
keep = (0...50000).map { |i| "some string number #{i}" * 2 }
young = (0...5000).map { |i| [i, i, i, i] }
keep.each_index { |i| keep[i] = nil if i.odd? }
table = {}
20000.times { |i| table[i] = [i, i.to_s * 3] }
GC.start
GC.disable
before = after = nil
# the first round makes Ruby allocate what the calls need
[0, :STOP].each do |signal|
  before = [GC.stat, ObjectSpace.count_objects]
  Process.kill(signal, $$)
  after = [GC.stat, ObjectSpace.count_objects]
end
[before, after].each do |stat, objects|
  keys = [:heap_allocated_pages, :heap_available_slots, :heap_live_slots]
  puts keys.map { |key| stat[key] }.push(objects[:FREE]).join(" ")
end
$stdout.flush
sleep 600
"""


@contextlib.contextmanager
def stopped(ruby):
    """Start the program; yield its pid and a function that returns Ruby's own figures."""
    process = subprocess.Popen([ruby, "-e", PROGRAM], stdout=subprocess.PIPE, text=True)

    def figures():
        process.send_signal(signal.SIGCONT)
        lines = [process.stdout.readline().split() for _ in range(2)]
        names = ("pages", "slots", "live", "free")
        return [dict(zip(names, map(int, line))) for line in lines]

    try:
        wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
        yield process.pid, figures
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def each_ruby():
    if not RUBIES:
        raise Skip("Ruby is not installed")
    for ruby in RUBIES:
        version = subprocess.run([ruby, "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True).stdout
        if version.startswith("3.1."):
            yield ruby
        else:
            raise Skip(f"{ruby} is Ruby {version}, and memstate reads 3.1")


def heap_of(pid):
    report = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    check_details(report)
    return report


@test
def pages_and_slots_equal_those_of_ruby():
    for ruby in each_ruby():
        with stopped(ruby) as (pid, figures):
            heap = heap_of(pid)
            row = check_matrix(pid, "-o", "+ruby_heap_bytes,ruby_live_bytes,malloc_heap_bytes")
            before, after = figures()
        found = next(h for h in heap["heaps"] if h["heap"] == "ruby")
        equal([found["quality"], found["problem"]], ["exact", None], ruby)
        equal([h["heap"] for h in heap["heaps"]], ["glibc", "ruby"], "heaps")
        equal(heap["unexplained_bytes"], 0, "unexplained")
        pages = sum(s["count"] for s in found["spaces"] if s["space"].startswith("pages of "))
        live = sum(c["live_count"] for c in found["classes"])
        free = sum(c["free_count"] for c in found["classes"])
        equal([pages, live + free], [before["pages"], before["slots"]], "pages, slots")
        # the calls of GC.stat and count_objects allocate some objects
        check(before["live"] <= live <= after["live"], f"live: {live}, Ruby says {before} {after}")
        check(before["free"] >= free >= after["free"], f"free: {free}, Ruby says {before} {after}")
        check(after["live"] - before["live"] <= 20, f"{before} {after}")
        check(row["anon_bytes"] * 20 <= row["rss_bytes"], row)
        check(row["ruby_heap_bytes"] > row["ruby_live_bytes"] > 1 << 20, row)
        # what the strings need beyond their slots is in malloc's heap
        check(heap["heaps"][0]["live_resident_bytes"] > 25000 * 40, heap["heaps"][0])


@test
def slots_of_ruby_are_roots_of_leaks():
    for ruby in each_ruby():
        with stopped(ruby) as (pid, _):
            heap = heap_of(pid)
            leaks = json.loads(memstate("leaks", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
            equal(leaks["live_count"], sum(a["live_count"] for a in heap["arenas"]) + heap["mapped_count"], ruby)
            check((leaks["direct_bytes"] + leaks["indirect_bytes"]) * 10 <= leaks["live_bytes"],
                  f"{leaks['direct_bytes']} {leaks['live_bytes']}")


# Compacts in each collection until it is told to stop, and then stops itself.
COMPACTING = """
GC.auto_compact = true
is_done = false
trap(:USR1) { is_done = true }
keep = []
puts "ready"
$stdout.flush
until is_done
  made = (0...20000).map { |i| "some string number #{i}" * 2 }
  keep = keep.last(20000) + made.each_slice(9).map(&:first)
  GC.start
end
GC.start
Process.kill(:STOP, $$)
"""
READS_MAX = 200


def ruby_heap(pid):
    return next(h for h in heap_of(pid)["heaps"] if h["heap"] == "ruby")


@test
def a_heap_that_is_being_compacted_is_a_bound_and_exact_afterwards():
    for ruby in each_ruby():
        with subprocess.Popen([ruby, "-e", COMPACTING], stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                for _ in range(READS_MAX):
                    heap = ruby_heap(process.pid)
                    equal(heap["problem"] is None, heap["quality"] == "exact", "a reason")
                    if "compacting" in (heap["problem"] or ""):
                        break
                equal(heap["quality"], "bound", f"quality during a compaction, {heap['problem']}")
                process.send_signal(signal.SIGUSR1)
                wait_until(lambda: is_in_state(process.pid, b"T"), "the program has stopped itself")
                heap = ruby_heap(process.pid)
                equal([heap["quality"], heap["problem"]], ["exact", None], "afterwards")
            finally:
                process.kill()


run()
