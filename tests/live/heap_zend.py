# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads PHP's heap from outside: the blocks and the chunks equal
memory_get_usage() and memory_get_usage(true) of the same moment.

MEMSTATE_TEST_PHP names PHP programs to use instead of php, separated by colons, such as
those of other versions.
"""

import contextlib
import json
import os
import shutil
import subprocess

from heap_lib import NO_HURRY, anonymous_rss, check_details, check_matrix
from live import Skip, check, equal, is_in_state, memstate, run, test, wait_until

PHPS = [p for p in os.environ.get("MEMSTATE_TEST_PHP", "php").split(":") if shutil.which(p)]

# The first round makes PHP allocate what the calls need: the second one allocates nothing.
PROGRAM = """
$keep = [];
for ($i = 0; $i < 100000; $i++) $keep[] = "str" . $i;
for ($i = 0; $i < 300; $i++) $keep[] = str_repeat("x", 1000 + $i * 100);
$big = str_repeat("y", 5 << 20);
$freed = [];
for ($i = 0; $i < 400; $i++) $freed[] = str_repeat("z", 100000);
%s
foreach ([0, 600] as $seconds) {
    $usage = memory_get_usage();
    $real = memory_get_usage(true);
    printf("%%d %%d %%d\\n", $usage, $real, strlen($big));
    sleep($seconds);
}
"""

# Blocks in the middle keep chunks that otherwise become empty one by one.
TRIM_PROGRAM = """
$keep = $freed = [];
for ($i = 0; $i < 20; $i++) {
    for ($j = 0; $j < 20000; $j++) $freed[] = str_repeat("x", 300);
    $keep[] = str_repeat("y", 300);
}
foreach ([0, 1] as $round) {
    printf("\\n");
    fgets(STDIN);
    if ($round == 0) {
        $freed = null;
        gc_collect_cycles();
    } else {
        gc_mem_caches();
        printf("\\n");
        fgets(STDIN);
    }
}
"""

# what the program does before it prints: some chunks are unmapped, others are cached
VARIANTS = {
    "full": "",
    "gaps": "for ($i = 0; $i < 100000; $i += 2) unset($keep[$i]);",
    "freed": "$freed = null; for ($i = 0; $i < 90000; $i++) unset($keep[$i]);",
    "collected": "$freed = null; for ($i = 0; $i < 90000; $i++) unset($keep[$i]); gc_mem_caches();",
}


@contextlib.contextmanager
def waiting(php, variant, *options, **env):
    """Start the program; yield its pid and PHP's own figures."""
    process = subprocess.Popen([php, "-n", *options, "-r", PROGRAM % VARIANTS[variant]],
                               stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
    try:
        process.stdout.readline()
        line = process.stdout.readline()
        wait_until(lambda: is_in_state(process.pid, b"S"), "the program waits")
        yield process.pid, dict(zip(("usage", "real", "big"), map(int, line.split())))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def each_php():
    if not PHPS:
        raise Skip("PHP is not installed")
    yield from PHPS


def heap_of(pid):
    report = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    check_details(report)
    return report


def check_equal(heap, truth, name):
    php = next(h for h in heap["heaps"] if h["heap"] == "php")
    spaces = {space["space"]: space for space in php["spaces"]}
    runs = [spaces[s] for s in ("runs of small blocks", "runs of single blocks", "huge blocks")]
    equal([php["quality"], php["problem"]], ["exact", None], name)
    equal(sum(s["live_bytes"] for s in runs), truth["usage"], f"{name}: memory_get_usage()")
    chunks = spaces["chunks"]["count"] + spaces["cached chunks"]["count"]
    equal(chunks * (2 << 20) + spaces["huge blocks"]["live_bytes"], truth["real"],
          f"{name}: memory_get_usage(true)")
    check(spaces["huge blocks"]["live_bytes"] >= truth["big"], f"{name}: {spaces}")
    equal(sum(c["live_bytes"] for c in php["classes"]), runs[0]["live_bytes"], f"{name}: size classes")
    check(php["live_resident_bytes"] <= truth["usage"], f"{name}: more is resident than allocated")
    return php


@test
def blocks_and_chunks_equal_those_of_php():
    for php in each_php():
        for variant in VARIANTS:
            with waiting(php, variant) as (pid, truth):
                heap = heap_of(pid)
                check_equal(heap, truth, f"{php}, {variant}")
                equal(heap["unexplained_bytes"], 0, f"{php}, {variant}: unexplained")
                equal([h["heap"] for h in heap["heaps"]], ["glibc", "php"], f"{php}: heaps")


@test
def what_gc_mem_caches_returns_is_known_before():
    for php in each_php():
        process = subprocess.Popen([php, "-n", "-d", "memory_limit=-1", "-r", TRIM_PROGRAM], bufsize=0,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            for _ in range(2):
                equal(process.stdout.readline(), b"\n", "the program waits")
                wait_until(lambda: is_in_state(process.pid, b"S"), "the program waits")
                heap = heap_of(process.pid)
                before = anonymous_rss(process.pid)
                process.stdin.write(b"\n")
            equal(process.stdout.readline(), b"\n", "the program has called gc_mem_caches()")
            after = anonymous_rss(process.pid)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        found = next(h for h in heap["heaps"] if h["heap"] == "php")
        check(found["trimmable_bytes"] >= 50 << 20, f"{php}: {found['trimmable_bytes']}")
        equal(before - after, found["trimmable_bytes"], f"{php}: returned by gc_mem_caches()")


@test
def at_most_a_twentieth_of_rss_remains_anon():
    for php in each_php():
        with waiting(php, "gaps") as (pid, _):
            row = check_matrix(pid, "-o", "+php_heap_bytes,php_live_bytes,malloc_heap_bytes")
            check(row["anon_bytes"] * 20 <= row["rss_bytes"], row)
            check(row["php_heap_bytes"] > row["php_live_bytes"] > 1 << 20, row)
            equal(row["live_bytes"] + row["pool_pages_bytes"] + row["pool_fragments_bytes"] + row["heap_meta_bytes"],
                  row["php_heap_bytes"] + row["malloc_heap_bytes"], "the heaps' sum")


@test
def without_the_memory_manager_there_is_no_such_heap():
    for php in each_php():
        with waiting(php, "gaps", USE_ZEND_ALLOC="0") as (pid, _):
            heap = heap_of(pid)
            equal([heap["allocator"], heap["heap_quality"], len(heap["heaps"])], ["glibc", "exact", 1], php)


@test
def blocks_of_php_are_roots_of_leaks():
    for php in each_php():
        with waiting(php, "gaps") as (pid, _):
            heap = heap_of(pid)
            leaks = json.loads(memstate("leaks", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
            equal(leaks["live_count"], sum(a["live_count"] for a in heap["arenas"]) + heap["mapped_count"], php)
            check((leaks["direct_bytes"] + leaks["indirect_bytes"]) * 10 <= leaks["live_bytes"], leaks["direct_bytes"])


run()
