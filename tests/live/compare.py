# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate --preload A,B -- COMMAND: what runs, what is measured, and how runs end."""

import json
import os
import shutil
import signal
import sys

from compare_lib import TARGET, TWO, compare, good, has, is_there, read, said
from live import (KIB, MIB, SH_UNTIL_SAMPLED, TIMEOUT, UNTIL_SAMPLED, Folder, Skip, check, equal,
                  memstate, run, start_memstate, test, wait_until)


@test
def runs_alternate_and_their_output_is_kept_separately():
    with Folder() as folder:
        order, kept = os.path.join(folder, "order"), os.path.join(folder, "kept")
        script = f'echo "$GLIBC_TUNABLES" >>{order}; echo out; echo err >&2'
        rows, result = compare(TWO, "--runs", "2", "--warm-up", "1", "--output-dir", kept, "--",
                               "sh", "-c", script)
        equal(read(order).splitlines(), ["", "glibc.malloc.arena_max=1"] * 3, "order")
        equal([(row["variant"], row["run"]) for row in rows if row["run"]].count(("glibc", 2)), 1,
              "second runs")
        equal(sorted(os.listdir(kept)),
              sorted(f"{n}-{v}" for n in ("warm-up-1", "1", "2")
                     for v in ("glibc", "glibc_arena_max=1")), "folders")
        for name in os.listdir(kept):
            equal((read(kept, name, "stdout"), read(kept, name, "stderr")), ("out\n", "err\n"), name)
        result = memstate("--preload", TWO, "--output-dir", kept, "--", "true").must_be(1)
        check("not empty" in result.errors()[0], result.err)


@test
def each_run_reads_standard_input_from_the_beginning():
    with Folder() as folder:
        kept, text = os.path.join(folder, "kept"), os.path.join(folder, "text")
        with open(text, "w", encoding="utf-8") as f:
            f.write("what there is to be read\n")
        with open(text, "rb") as f:
            compare(TWO, "--runs", "2", "--output-dir", kept, "--", "cat", stdin=f)
        for name in os.listdir(kept):
            equal(read(kept, name, "stdout"), read(text), name)


@test
def memory_that_glibc_keeps_is_returned_by_jemalloc():
    if not has("jemalloc"):
        raise Skip("jemalloc is not installed")
    other = "jemalloc:dirty_decay_ms=0"
    with Folder() as folder:
        kept = os.path.join(folder, "kept")
        rows, _ = compare(f"glibc,{other}", "--runs", "1", "--output-dir", kept, "--", TARGET,
                          "fragmented", "16", "600")
        truth = said(kept, "1-glibc")
        for row in rows:
            check(row["peak_rss_bytes"] >= truth["most_live_bytes"], row)
            check(row["peak_rss_bytes"] < truth["most_live_bytes"] * 2, row)
            check(0.3 <= row["wall_s"], row)  # excludes the time it was stopped for walks
        ends = [good(rows, name)[0]["at_end_rss_bytes"] for name in ("glibc", other)]
        check(None not in ends, rows)  # fails if the process was not read in time
        check(ends[1] < truth["most_live_bytes"] <= ends[0], rows)


@test
def the_watchdog_of_memstate_is_not_part_of_the_run():
    with Folder() as folder:
        rows, result = compare(TWO, "--runs", "1", "--max-pause", "1s", "--output-dir",
                               os.path.join(folder, "kept"), "--", TARGET, "steady", "8", "600")
    # memstate read the heap during a stop
    check(any(row["at_peak_live_bytes"] for row in rows), rows)
    equal(result.complaints(), [], "messages")  # no message about a process that was left running


@test
def a_heap_that_cannot_be_read_is_reported_with_the_reason():
    args = "--runs", "2", "--max-pause", "1us", "--", TARGET, "steady", "8", "600"
    rows, result = compare(TWO, "--heap", "walk", *args, status=3)
    equal(sorted(result.complaints()),
          [f"memstate: {name}: heap not read at the end of the work: the pause would exceed --max-pause"
           for name in sorted(TWO.split(","))], "messages")
    check(all(row["at_peak_live_bytes"] is None for row in rows), rows)
    text = " ".join(verdict["text"] for verdict in json.loads(result.out)["verdict"])
    check("Heap not read under glibc: the pause would exceed --max-pause." in text, text)
    _, result = compare(TWO, "--heap", "off", *args)
    equal(result.complaints(), [], "messages with --heap off")
    text = " ".join(verdict["text"] for verdict in json.loads(result.out)["verdict"])
    check("Heap not read under glibc: --heap off." in text, text)


@test
def live_bytes_match_the_program():
    with Folder() as folder:
        kept = os.path.join(folder, "kept")
        rows, _ = compare(TWO, "--runs", "1", "--above", "4M", "--output-dir", kept, "--", TARGET,
                          "steady", "8", "400")
        live = said(kept, "1-glibc")["live_bytes"]
    for row in rows:
        check(0 < row["above_s"] <= row["wall_s"] * 1.5 + 1, row)
        # the first sample with the largest Rss may precede the last blocks by a few pages
        check(live - 64 * KIB <= (row["at_peak_live_bytes"] or 0) < live * 1.1, (live, row))
    rows, _ = compare(TWO, "--runs", "1", "--heap", "off", "--above", "4G", "--", TARGET, "steady",
                      "8", "100")
    for row in rows:
        equal((row["at_peak_live_bytes"], row["above_s"]), (None, 0), "at_peak_live_bytes, above_s")


@test
def the_program_that_a_wrapper_starts_is_measured():
    filler = "printf -v x '%*s' 20000000 ''"  # makes the shell itself large
    bash = shutil.which("bash")
    if not bash:
        raise Skip("bash is not installed")
    with Folder() as folder:
        kept = os.path.join(folder, "kept")
        rows, _ = compare(TWO, "--runs", "1", "--heap", "off", "--output-dir", kept, "--", "env", "A=1",
                          bash, "-c", f"{filler}; {TARGET} steady 4 500; true")
        truth = said(kept, "1-glibc")
        for row in rows:
            check(truth["live_bytes"] <= row["at_peak_rss_bytes"] < 16 * MIB, row)
            check(row["peak_rss_bytes"] < 16 * MIB, row)


@test
def a_copy_of_the_wrapper_is_left_out_until_it_executes_the_program():
    bash = shutil.which("bash")
    if not bash:
        raise Skip("bash is not installed")
    large = "printf -v x '%*s' 20000000 ''"
    wait = "t=${EPOCHREALTIME/./}; while ((${EPOCHREALTIME/./} - t < 200000)); do :; done"
    rows, _ = compare(TWO, "--runs", "1", "--heap", "off", "--", bash, "-c",
                      f"{large}; ({wait}; exec {TARGET} steady 4 500); true")
    for row in rows:
        check(4 * MIB <= row["at_peak_rss_bytes"] < 16 * MIB, row)
        check(row["peak_rss_bytes"] < 16 * MIB, row)


@test
def a_wrapper_that_execs_the_program_is_measured_after_exec():
    rows, _ = compare(TWO, "--runs", "1", "--heap", "off", "--", "sh", "-c",
                      f"{SH_UNTIL_SAMPLED} exec {TARGET} steady 8 400")
    for row in rows:
        check(8 * MIB <= row["at_peak_rss_bytes"] < 16 * MIB, row)


@test
def processes_that_the_command_starts_are_summed():
    rows, _ = compare(TWO, "--runs", "1", "--", "sh", "-c",
                      f"{TARGET} steady 8 500 & {TARGET} steady 8 500; wait")
    for row in rows:
        check(row["at_peak_rss_bytes"] > 16 * MIB, row)


@test
def a_failed_run_is_reported_and_left_out():
    script = f'case "$GLIBC_TUNABLES" in *arena_max*) exit 7 ;; esac; exec {TARGET} steady 4 100'
    rows, result = compare(TWO, "--runs", "2", "--", "sh", "-c", script, status=3)
    check(all("status" in row["problem"] for row in rows if "arena" in row["variant"]), rows)
    equal(len(good(rows, "glibc")), 2, "good runs")
    lines = [line for line in result.errors() if "is excluded" in line]
    equal(len(lines), 2, result.err)
    check("run 1 with glibc:arena_max=1" in lines[0] and "status 7" in lines[0], lines)
    result = memstate("--preload", TWO, "--runs", "1", "--", "sh", "-c", "kill -SEGV $$").must_be(1)
    check("signal 11" in result.errors()[0], result.err)
    equal(result.out, b"", "stdout")


@test
def a_command_that_drops_the_allocator_is_not_a_good_run():
    if not has("jemalloc"):
        raise Skip("jemalloc is not installed")
    rows, _ = compare("glibc,jemalloc", "--runs", "1", "--", "env", "-u", "LD_PRELOAD", TARGET,
                      "steady", "4", "400", status=3)
    equal([bool(row["problem"]) for row in rows], [False, True], rows)
    check("not loaded" in rows[1]["problem"], rows)


# As env -u LD_PRELOAD, but memstate samples it first, as it does on a busy machine.
SLOW_ENV = f"""{UNTIL_SAMPLED}
import sys
os.environ.pop("LD_PRELOAD", None)
os.execv(sys.argv[1], sys.argv[1:])
"""


@test
def an_allocator_that_only_a_starter_has_loaded_is_not_a_good_run():
    if not has("jemalloc"):
        raise Skip("jemalloc is not installed")
    rows, _ = compare("glibc,jemalloc", "--runs", "1", "--", sys.executable, "-c", SLOW_ENV, TARGET,
                      "steady", "4", "400", status=3)
    equal([bool(row["problem"]) for row in rows], [False, True], rows)
    check("not loaded" in rows[1]["problem"], rows)


@test
def processes_left_running_are_ended():
    with Folder() as folder:
        pids = os.path.join(folder, "pids")
        setsid = "setsid" if shutil.which("setsid") else ""
        script = f"sleep 1000 & echo $! >>{pids}; {setsid} sleep 1000 & echo $! >>{pids}"
        compare(TWO, "--runs", "1", "--", "sh", "-c", script)
        left = [int(line) for line in read(pids).split()]
        equal(len(left), 4, "processes that the command left running")
        check(not any(map(is_there, left)), left)


@test
def an_interrupt_ends_the_command_and_shows_complete_runs():
    with Folder() as folder:
        pids = os.path.join(folder, "pids")
        script = (f"echo $$ >>{pids}; test $(wc -l <{pids}) -le 2 || exec sleep 1000; "
                  f"{SH_UNTIL_SAMPLED}")
        process = start_memstate("--preload", TWO, "--json", "--", "sh", "-c", script)
        wait_until(lambda: os.path.exists(pids) and len(read(pids).split()) >= 3, "the third run")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        equal(process.returncode, 3, err)
        rows = [row for row in json.loads(out)["rows"] if row["statistic"] == "run"]
        equal(len(good(rows, "glibc")), 1, rows)
        check(not any(is_there(int(pid)) for pid in read(pids).split()), read(pids))


run()
