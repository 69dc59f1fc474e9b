# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate --preload A,B --workload SCRIPT -- SERVER, with test targets
and real programs."""

import json
import mmap
import os
import shutil
import subprocess
import sys

from compare_lib import TARGET, TWO, compare, good, has, is_there, read, said
from live import (KIB, MEMSTATE, MIB, TIMEOUT, UNTIL_SAMPLED, Folder, Skip, check, equal,
                  memstate, run, test)


@test
def a_server_is_read_after_its_workload_and_after_settling():
    with Folder() as folder:
        kept, mark = os.path.join(folder, "kept"), os.path.join(folder, "mark")
        server = f"echo $$ >>{mark}; exec {TARGET} steady 4 0"
        rows, _ = compare(TWO, "--runs", "1", "--settle", "200ms", "--output-dir", kept,
                          "--workload", "echo of the workload; sleep 0.2", "--", "sh", "-c", server)
        for row in rows:
            check(row["settled_rss_bytes"] > 4 * MIB and row["at_end_rss_bytes"] > 4 * MIB, row)
            check(row["settled_live_bytes"] is not None, row)
            check(0.1 <= row["wall_s"], row)
        equal(read(kept, "1-glibc", "workload.stdout"), "of the workload\n", "workload output")
        check(not any(is_there(int(pid)) for pid in read(mark).split()), "the server is still running")


@test
def a_failing_workload_or_server_is_not_a_good_run():
    result = memstate("--preload", TWO, "--runs", "1", "--ready", "50ms", "--settle", "0",
                      "--workload", "exit 3", "--", TARGET, "steady", "1", "0").must_be(1)
    check("the workload failed (status 3)" in result.errors()[0], result.err)
    result = memstate("--preload", TWO, "--runs", "1", "--ready", "50ms", "--workload", "sleep 100",
                      "--", TARGET, "steady", "1", "300").must_be(1)
    check("ended prematurely" in result.errors()[0], result.err)


@test
def a_server_that_ignores_sigterm_is_ended_by_stop_signal_kill():
    server = f"trap '' TERM; echo; {TARGET} steady 1 0"
    rows, result = compare(TWO, "--runs", "1", "--ready", "100ms", "--settle", "0", "--stop-signal",
                           "KILL", "--workload", "true", "--", "sh", "-c", server)
    equal(len(good(rows, "glibc")), 1, result.err)


@test
def redis_under_its_own_benchmark():
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        raise Skip("redis is not installed")
    with Folder() as folder:
        path = os.path.join(folder, "redis.sock")
        rows, _ = compare(TWO, "--runs", "1", "--settle", "200ms", "--workload",
                          f"redis-benchmark -s {path} -q -n 5000 -r 5000 -d 1000 -t set", "--",
                          "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                          "--appendonly", "no", cwd=folder)
        for row in rows:
            # some distributions link redis with jemalloc; "glibc" replaces it
            check(row["settled_live_bytes"] > 2000 * 1000, row)
            check(row["settled_live_bytes"] < row["settled_rss_bytes"], row)
            check(row["cpu_s"] > 0, row)


@test
def python_that_builds_and_drops_a_large_structure():
    script = f"x = [{{i: str(i)}} for i in range(100000)]; del x; {UNTIL_SAMPLED}"
    rows, _ = compare(TWO, "--runs", "1", "--", sys.executable, "-c", script)
    for row in rows:
        check(row["peak_rss_bytes"] > 24 * MIB, row)
        check(row["minor_faults"] > 24 * MIB // (64 * KIB), row)


@test
def each_allocator_has_figures_at_the_peak():
    others = [name for name in ("tcmalloc", "mimalloc") if has(name)]
    if not others:
        raise Skip("neither tcmalloc nor mimalloc is installed")
    with Folder() as folder:
        kept = os.path.join(folder, "kept")
        # after a query without an answer, memstate waits for several times as long as it took
        rows, _ = compare(",".join(["glibc", *others]), "--runs", "1", "--output-dir", kept, "--",
                          TARGET, "steady", "8", "2000")
        live = said(kept, "1-glibc")["live_bytes"]
    for row in rows:
        equal(row["at_peak_heap_quality"], "exact", row)
        check(live <= row["at_peak_live_bytes"] < live * 1.2, (live, row))


TRACEFS = "/sys/kernel/tracing"


def with_tracefs(*command):
    """Run the command in a new mount namespace with tracefs, unless tracefs
    is already mounted."""
    if os.path.exists(f"{TRACEFS}/events/syscalls/sys_enter_madvise/id"):
        return list(command)
    return ["unshare", "-m", "sh", "-c", f'mount -t tracefs none {TRACEFS} && exec "$@"', "sh", *command]


@test
def calls_that_return_memory_are_counted_where_permitted():
    if not hasattr(mmap, "MADV_DONTNEED"):
        raise Skip("this Python has no madvise")
    try:
        subprocess.run(with_tracefs("test", "-r", f"{TRACEFS}/events/syscalls/sys_enter_madvise/id"),
                       check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as e:
        raise Skip("tracefs is not readable") from e
    script = """import mmap, os
room = mmap.mmap(-1, 1 << 20)
def give(count):
    for i in range(count):
        room.madvise(mmap.MADV_DONTNEED)
        room.madvise(mmap.MADV_WILLNEED)  # gives nothing back
if os.fork() == 0:
    give(1000)
    os._exit(0)
give(1000)
os.wait()
"""
    got = subprocess.run(with_tracefs(MEMSTATE, "--preload", TWO, "--runs", "1", "--json", "--",
                                      sys.executable, "-c", script),
                         stdout=subprocess.PIPE, check=True, timeout=TIMEOUT).stdout
    for row in json.loads(got)["rows"]:
        if row["statistic"] == "run" and row["given_back"] is None:
            raise Skip("kernel event counters are not accessible")
        check(2000 <= row["given_back"] < 2500, row)


run()
