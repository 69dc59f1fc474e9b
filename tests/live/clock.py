# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples keep to the clock: sample k is due at start + k * interval.

A late sample causes no burst, missed samples are reported, and memstate stretches the
interval where reading would take too much of a process's time.
"""

import os
import signal
import time

from live import (MIB, TIMEOUT, Skip, Target, check, equal, is_in_state, memstate, parse_csv, run,
                  start_memstate, test, wait_until)

COLUMNS = ["-o", "elapsed_s,pid,read_s"]


def sample_times(out):
    return [row["elapsed_s"] for row in parse_csv(out)]


@test
def slow_reads_do_not_delay_later_samples():
    """If the cost of slow reads accumulated, late samples would drift far from
    their due times."""
    interval_ms = 200
    with Target("mappings", 10000) as target:
        result = memstate("-p", target.pid, "--csv", "-n", 12, "-i", f"{interval_ms}ms",
                          "--max-share", "100", *COLUMNS).must_be(0)
    rows = result.rows()
    equal(len(rows), 12, "samples")
    cost = min(row["read_s"] for row in rows)
    # accumulated cost would make the sixth and later samples late by six times the cost
    late_ms = [round(row["elapsed_s"] * 1000) % interval_ms for row in rows[6:]]
    if cost < 0.002:
        raise Skip(f"reading takes only {cost} s, too little to accumulate")
    check(min(late_ms) < 6000 * cost,
          f"samples at {[row['elapsed_s'] for row in rows]}, {cost} s each")


@test
def missed_samples_are_reported_and_not_made_up_for():
    interval = 0.05
    with Target("name", "present") as target:
        series = start_memstate("-p", target.pid, "--csv", "-i", "50ms", "--max-share", "100",
                                *COLUMNS)
        out = b"".join(series.stdout.readline() for _ in range(4))
        os.kill(series.pid, signal.SIGSTOP)
        wait_until(lambda: is_in_state(series.pid, b"T"), "the series is stopped")
        until = time.monotonic() + 12 * interval
        wait_until(lambda: time.monotonic() > until, "samples are missed")
        os.kill(series.pid, signal.SIGCONT)
        out += b"".join(series.stdout.readline() for _ in range(12))
        series.send_signal(signal.SIGTERM)
        rest, err = series.communicate(timeout=TIMEOUT)
    equal(series.returncode, 0, "status")
    times = sample_times(out + rest)
    gaps = [(b - a, a, b) for a, b in zip(times, times[1:])]
    longest, _, resumed = max(gaps)
    check(longest > 10 * interval, f"no gap in {times}")
    # one late sample after the gap, then only samples at their due times
    soon = [t for t in times if resumed <= t < resumed + 4 * interval]
    check(len(soon) <= 6, f"a burst: {soon}")
    said = err.decode().splitlines()
    check(len(said) == 1 and "missed" in said[0], f"stderr: {said}")
    missed = int(said[0].split()[1])
    check(missed >= 9, f"missed: {missed}")
    # each due time was either sampled or missed
    check(abs(times[-1] / interval - (len(times) - 1) - missed) <= 2, f"{missed}, {times}")


@test
def a_stretched_interval_is_reported():
    with Target("unbacked", 256 * MIB, 256 * MIB) as target:
        args = ["-p", target.pid, "--csv", "-i", "1ms", *COLUMNS]
        result = memstate(*args, "-n", 4).must_be(0)
        stretched = [line for line in result.errors() if "interval increased to" in line]
        equal(len(stretched), 1, f"messages: {result.err}")
        check(f"process {target.pid}" in stretched[0], stretched[0])
        times = sample_times(result.out)
        cost = min(row["read_s"] for row in result.rows())
        # reading takes at most 2 % of the time
        check(times[-1] - times[0] > 3 * 20 * cost, f"samples at {times}, {cost} s each")

        result = memstate(*args, "-n", 4, "--max-share", "100").must_be(0)
        equal([line for line in result.errors() if "stretched" in line], [], "unasked")


@test
def a_single_sample_has_no_interval():
    with Target("unbacked", 256 * MIB, 256 * MIB) as target:
        for args in (["-i", "1ms", "--max-share", "0.1"], []):
            result = memstate("-p", target.pid, "--csv", *args, "-n", 1, *COLUMNS).must_be(0)
            equal(result.errors(), [], "stderr")
            equal(len(result.rows()), 1, "samples")
        result = memstate("-p", target.pid, "--text", "-n", 1).must_be(0)
        equal(result.errors(), [], "stderr of a report")


@test
def a_small_process_is_sampled_at_the_requested_interval():
    interval = 0.2
    with Target("name", "present") as target:
        result = memstate("-p", target.pid, "--csv", "-i", "200ms", "-n", 3, *COLUMNS).must_be(0)
    times = sample_times(result.out)
    check(times[2] >= 2 * interval, f"too soon: {times}")
    # if a busy machine preempts memstate while it reads, stretching the interval is right
    cost = max(row["read_s"] for row in result.rows())
    if 50 * cost < 0.9 * interval:
        equal([line for line in result.errors() if "stretched" in line], [], "stderr")


run()
