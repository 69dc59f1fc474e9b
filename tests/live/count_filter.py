# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that install a seccomp filter while they are counted: nothing of ours may end them."""

import json
import os
import re
import sys

from live import MEMSTATE, TIMEOUT, check, equal, memstate, run, test

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "filter_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")

if not os.path.exists(LIBRARY):
    print("built without what counts in other programs", file=sys.stderr)
    sys.exit(77)

# each thread, one for all threads, and without libc
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
        # what is known of a thread before it runs is allocated by calloc(), and stays
        live = own["live_blocks"] - own["calloc_calls"]
        equal((own["malloc_calls"], own["threads"], live),
              (truth["malloc"], truth["threads"], truth["live"]), way)


@test
def their_stacks_are_recorded():
    for way in WAYS:
        for options in (("--stacks",), ("--live",), ("--live", "--sample", "1K")):
            document, truth, result = counted(way, "kill", 20, 300, options=options)
            check(b"no room" not in result.err, f"{way}: {result.err}")
            if "--sample" not in options:
                equal(of_function(document, "one_block", "allocations"), truth["malloc"],
                      f"{way} {options}: allocations")
            if options == ("--live",):
                equal(of_function(document, "one_block", "live_blocks"), truth["live"],
                      f"{way} {options}: blocks")
            equal(document["cut_allocations"], 0, f"{way} {options}")


@test
def calls_that_a_filter_answers_with_an_error_do_no_harm():
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
def a_child_that_is_forked_under_a_filter_is_reported():
    for options in ((), ("--live",)):
        document, truth, result = counted("fork", "kill", 4, 100, options=options)
        check(re.search(rb"1 forked process was not counted: .*seccomp", result.err), result.err)
        if not options:
            equal([p["malloc_calls"] for p in document["programs"]], [truth["malloc"]], "malloc")


@test
def strict_mode_allows_nothing_and_is_counted():
    for options in ((), ("--calls-only",), ("--stacks",), ("--live",)):
        document, truth, _ = counted("mode1", "kill", 0, 3000, options=options)
        if "programs" in document:
            equal(document["programs"][0]["malloc_calls"], truth["malloc"], f"{options}")
        else:
            equal(of_function(document, "one_block", "allocations"), truth["malloc"], f"{options}")
            equal(document["cut_allocations"], 0, f"{options}")


run()
