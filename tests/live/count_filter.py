# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that install a seccomp filter while they are counted: our code must not
get them killed."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from live import (MEMSTATE, TIMEOUT, Skip, check, equal, memstate, need_built_with, parse_csv,
                  read_said, run, start_memstate, test)

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "filter_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)

# filter one thread, filter all threads (TSYNC), or install the filter without libc
WAYS = ("prctl", "syscall", "tsync", "raw")


def counted(*arguments, options=()):
    result = memstate("count", "-t", "--json", "--output-all", *options, "--", TARGET, *arguments,
                      timeout=TIMEOUT)
    equal(result.status, 0, f"{arguments} {options}: {result.err}")
    check(b"killed" not in result.err and b"signal" not in result.err, f"{arguments}: {result.err}")
    truth = dict(re.findall(r"^(\w+) (\d+)$", result.out.decode() + result.err.decode(), re.M))
    document = json.loads(result.out[result.out.index(b"{"):])
    return document, {key: int(value) for key, value in truth.items()}, result


def of_function(document, name, what):
    return sum(f[f"self_{what}"] for f in document["functions"] if f["function"] == name)


@test
def threads_that_allocate_first_under_a_filter_are_counted():
    for way in WAYS:
        document, truth, _ = counted(way, "kill", 60, 500)
        own, = document["programs"]
        # per-thread control data is allocated with calloc() before the thread
        # runs, and stays
        live = own["live_blocks"] - own["calloc_calls"]
        equal((own["malloc_calls"], own["threads"], live),
              (truth["malloc"], truth["threads"], truth["live"]), way)


@test
def stacks_of_threads_under_a_filter_are_recorded():
    need_built_with("LIBELF")
    for way in WAYS:
        for options in (("--stacks",), ("--live",), ("--live", "--sample", "1K")):
            document, truth, result = counted(way, "kill", 20, 300, options=options)
            check(b"no space" not in result.err, f"{way}: {result.err}")
            if "--sample" not in options:
                equal(of_function(document, "one_block", "allocations"), truth["malloc"],
                      f"{way} {options}: allocations")
            if options == ("--live",):
                equal(of_function(document, "one_block", "live_blocks"), truth["live"],
                      f"{way} {options}: blocks")
            equal(document["cut_allocations"], 0, f"{way} {options}")


@test
def calls_that_a_filter_fails_do_no_harm():
    for options in ((), ("--live",)):
        _, truth, result = counted("tsync", "eperm", 30, 200, options=options)
        check(truth["malloc"] > 0, result.err)


@test
def more_threads_than_were_reserved_are_counted_or_reported():
    document, truth, result = counted("raw", "kill", 1100, 10)
    own, = document["programs"]
    lost = re.search(rb"(\d+) threads? (was|were) not counted", result.err)
    equal(own["threads"] + int(lost[1] if lost else 0), truth["threads"], f"threads; {result.err}")
    equal(own["malloc_calls"] + 10 * int(lost[1] if lost else 0), truth["malloc"], "malloc")


@test
def a_child_forked_under_a_filter_is_reported():
    for options in ((), ("--live",)):
        document, truth, result = counted("fork", "kill", 4, 100, options=options)
        check(re.search(rb"1 forked process was not counted: .*seccomp", result.err), result.err)
        if not options:
            equal([p["malloc_calls"] for p in document["programs"]], [truth["malloc"]], "malloc")


@test
def programs_in_strict_mode_are_counted():
    need_built_with("LIBELF")
    for options in ((), ("--calls-only",), ("--stacks",), ("--live",)):
        document, truth, _ = counted("mode1", "kill", 0, 3000, options=options)
        if "programs" in document:
            equal(document["programs"][0]["malloc_calls"], truth["malloc"], f"{options}")
        else:
            equal(of_function(document, "one_block", "allocations"), truth["malloc"], f"{options}")
            equal(document["cut_allocations"], 0, f"{options}")


def strict_threads(count):
    """Arguments for this many threads that enter strict mode in turn; strict mode
    forbids reserving space."""
    return "mode1", "kill", count, 10


@test
def threads_without_a_reservation_are_reported():
    document, truth, result = counted(*strict_threads(1100))
    own, = document["programs"]
    lost = re.search(rb"(\d+) threads were not counted: a seccomp filter restricts the program", result.err)
    check(lost, f"no message: {result.err}")
    count = int(lost[1])
    check(0 < count <= 200, f"{count} threads were lost")
    equal((own["threads"] + count, own["malloc_calls"] + 10 * count), (truth["threads"], truth["malloc"]),
          "threads, calls of malloc")


@test
def threads_lost_to_a_file_size_limit_are_reported():
    script = f"ulimit -f 128; exec {TARGET} prctl kill 300 10"  # 64 KiB: 240 threads
    result = memstate("count", "-t", "--json", "--output-all", "--", "sh", "-c", script, timeout=TIMEOUT)
    equal(result.status, 0, result.err)
    lost = re.search(rb"(\d+) threads were not counted", result.err)
    check(lost, f"no message: {result.err}")
    own = json.loads(result.out[result.out.index(b"{"):])["programs"][-1]
    equal((own["threads"] + int(lost[1]), own["malloc_calls"] + 10 * int(lost[1])), (301, 3011),
          "threads, calls of malloc")


@test
def limits_are_not_checked_when_threads_are_missing():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "limits")
        for count, status in ((20, 0), (1100, 125)):
            with open(path, "w", encoding="ascii") as file:
                file.write("[filter_target]\nmalloc_calls <= 1000000\n")
            result = memstate("count", "--check", path, "--", TARGET, *strict_threads(count), timeout=TIMEOUT)
            equal(result.status, status, f"{count} threads: {result.err}")
            if status:
                check(re.search(rb"not counted.*seccomp", result.err), result.err)


class Attached:
    """A filter_target whose calls memstate counts with injected code."""

    def __init__(self, *arguments, options=()):
        self.target = subprocess.Popen([TARGET, *map(str, arguments), "wait"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.read("ready")
        self.memstate = start_memstate("count", "-p", self.target.pid, "--probe", "inject", "--csv", "-i", "60s",
                                       "-o", "+method", *options)
        self.header = self.memstate.stdout.readline()
        if not self.header:
            error = self.memstate.stderr.read().decode()
            if "not permitted" in error:
                raise Skip(error)
            raise AssertionError(error)

    def read(self, word):
        return read_said(self.target, iter(self.target.stdout.readline, b""), word.encode())

    def send_line(self):
        self.target.stdin.write(b"\n")

    def row(self):
        out, err = self.memstate.communicate(timeout=TIMEOUT)
        equal(self.memstate.returncode, 0, f"status ({err})")
        row = parse_csv(self.header + out)[-1]
        equal(row["method"], "inject", "method")
        return row

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.target.stdin.close()
        self.target.kill()
        self.target.wait()
        self.target.stdout.close()
        self.target.stderr.close()


@test
def a_process_that_installs_a_filter_while_counted_survives():
    for way in WAYS:
        with Attached(way, "kill", 40, 500) as own:
            own.send_line()
            said = own.read("done")
            own.memstate.send_signal(signal.SIGINT)
            row = own.row()
            equal((int(row["malloc_calls"]), row["threads"]), (said["malloc"], said["threads"]), way)
            own.send_line()
            equal(own.target.wait(TIMEOUT), 0, f"{way}: exit status after memstate's end")


@test
def a_process_that_ends_under_a_filter_is_counted_to_its_end():
    for way in WAYS:
        with Attached(way, "kill", 40, 500) as own:
            own.send_line()
            said = own.read("done")
            own.send_line()
            equal(own.target.wait(TIMEOUT), 0, f"{way}: exit status")
            row = own.row()
            equal((int(row["malloc_calls"]), row["state"]), (said["malloc"] + 500, "ended"), way)


run()
