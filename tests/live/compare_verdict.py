# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict on programs whose memory is of a known kind."""

import json

from compare_lib import TARGET, TWO, has
from live import Skip, check, memstate, run, test

TRIES = 4  # how much of a short run is seen is a matter of how busy the machine is


def verdict(preload, *args):
    page = json.loads(memstate("--preload", preload, "--runs", 2, "--json", *args).must_be(0).out)
    return [(v["rule"], v["text"]) for v in page["verdict"]]


def must_say(is_wanted, preload, *args):
    """Longer from try to try, where the last argument is a time."""
    for number in range(1, TRIES + 1):
        found = verdict(preload, *args[:-1], args[-1] * number)
        if is_wanted(found):
            return
    raise AssertionError(f"{preload} {args}: {found}")


@test
def no_allocator_can_help_a_program_that_leaks():
    must_say(lambda v: v[0][0] == "live-same" and "The allocator cannot help" in v[0][1]
             and "memstate leaks" in v[0][1], TWO, "--", TARGET, "leaking", 32, 700)


@test
def what_one_keeps_and_another_gives_back_is_pool():
    if not has("jemalloc"):
        raise Skip("jemalloc is not installed")
    other = "jemalloc:dirty_decay_ms=0"
    must_say(lambda v: v[0][0] == "pool-differs"
             and v[0][1].startswith(f"Pool and fragments differ: {other} settles 9"),
             f"glibc,{other}", "--workload", "true", "--settle", "100ms",
             "--", TARGET, "fragmented", 64, 0)


@test
def of_a_steady_program_nothing_differs():
    must_say(lambda v: v[0][0] == "no-difference"
             and not any(rule.startswith(("live", "rss")) for rule, _ in v),
             TWO, "--", TARGET, "steady", 16, 300)


@test
def one_run_is_too_few():
    page = json.loads(memstate("--preload", TWO, "--runs", 1, "--json", "--", TARGET, "steady", 4,
                               20).must_be(0).out)
    check([v["rule"] for v in page["verdict"]] == ["too-few-runs"], page["verdict"])


run()
