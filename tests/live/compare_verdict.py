# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict of a comparison for programs with known memory behaviour."""

import json

from compare_lib import TARGET, TWO, has
from live import Skip, check, memstate, run, test

TRIES = 4  # the number of samples in a short run depends on the load of the machine


def verdict(preload, *args):
    page = json.loads(memstate("--preload", preload, "--runs", 2, "--json", *args).must_be(0).out)
    return [(v["rule"], v["text"]) for v in page["verdict"]]


def must_say(is_wanted, preload, *args):
    """Retry with a longer run each time; the last argument is a duration."""
    for number in range(1, TRIES + 1):
        found = verdict(preload, *args[:-1], args[-1] * number)
        if is_wanted(found):
            return
    raise AssertionError(f"{preload} {args}: {found}")


@test
def no_allocator_can_help_a_program_that_leaks():
    must_say(lambda v: v[0][0] == "live-same" and "No allocator helps" in v[0][1]
             and "memstate leaks" in v[0][1], TWO, "--", TARGET, "leaking", 32, 700)


@test
def memory_kept_by_one_allocator_only_is_pool():
    if not has("jemalloc"):
        raise Skip("jemalloc is not installed")
    other = "jemalloc:dirty_decay_ms=0"
    must_say(lambda v: v[0][0] == "pool-differs"
             and v[0][1].startswith(f"Free memory kept by the allocator differs: Rss under {other} settles 9"),
             f"glibc,{other}", "--workload", "true", "--settle", "100ms",
             "--", TARGET, "fragmented", 64, 0)


@test
def a_steady_program_shows_no_difference():
    must_say(lambda v: v[0][0] == "no-difference"
             and not any(rule.startswith(("live", "rss")) for rule, _ in v),
             TWO, "--", TARGET, "steady", 16, 300)


@test
def one_run_is_too_few_for_a_verdict():
    page = json.loads(memstate("--preload", TWO, "--runs", 1, "--json", "--", TARGET, "steady", 4,
                               20).must_be(0).out)
    check([v["rule"] for v in page["verdict"]] == ["too-few-runs"], page["verdict"])


run()
