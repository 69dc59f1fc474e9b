# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that have ended, were replaced by another process, are zombies, or
have no memory."""

import json
import os
import platform
import signal
import subprocess
import time

from live import (IS_ROOT, MIB, TIMEOUT, Folder, Skip, Target, check, check_sums, complaints, equal,
                  map_rows, memstate, parse_csv, read_proc, run, sample, start_memstate,
                  status_field, test, wait_until)


def a_pid_that_is_gone():
    with subprocess.Popen(["true"]) as process:
        pass
    return process.pid


def first_row(process):
    """Return the header and the first row of a running series."""
    return process.stdout.readline() + process.stdout.readline()


def check_refused(*args):
    result = memstate(*args).must_be(1)
    equal(result.out, b"", "stdout")
    equal(len(result.errors()), 1, f"lines of {result.err}")
    return result.errors()[0]


@test
def a_missing_pid_is_reported_in_one_line():
    pid = a_pid_that_is_gone()
    for args in (["--csv"], ["--json"], ["--text"], ["--csv", "-n1", "--output-all"]):
        line = check_refused("-p", pid, *args)
        check(str(pid) in line, line)
    check(str(pid) in check_refused("map", "-p", pid), "map")
    check_refused("map", "-p", pid, "--csv")


@test
def one_of_two_targets_missing_is_a_partial_result():
    with Target("name", "present") as target:
        pid = a_pid_that_is_gone()
        result = memstate("-p", f"{target.pid},{pid}", "--csv", "-n1").must_be(3)
        equal([row["pid"] for row in result.rows()], [target.pid], "pids")
        equal(len(result.errors()), 1, f"lines of {result.err}")


def ended(pid, name, count, verb="taken"):
    plural = " was" if count == 1 else "s were"
    return f"memstate: process {pid} ({name}) has ended; {count} sample{plural} {verb}"


def check_killed(is_buried):
    with Target("unbacked", 4 * MIB, MIB) as target:
        series = start_memstate("-p", target.pid, "--csv", "-i", "20ms", "--max-share", "100",
                                "--output-all")
        out = first_row(series)
        target.process.kill()
        if is_buried:
            target.process.wait()
        rest, err = series.communicate(timeout=TIMEOUT)
        rows = parse_csv(out + rest)
        equal((series.returncode, complaints(err)), (0, [ended(target.pid, "target", len(rows))]),
              "status and stderr")
        for row in rows:
            check_sums(row)
            check(row["rss_bytes"] >= MIB, f"a row after the end: {row['rss_bytes']}")


@test
def a_killed_target_ends_the_series_with_complete_rows():
    check_killed(is_buried=True)


@test
def a_target_that_becomes_a_zombie_ends_the_series():
    check_killed(is_buried=False)


@test
def the_end_of_a_recording_by_name_is_reported():
    with Folder() as folder, Target("name", "ending") as one, Target("name", "ending") as two:
        series = start_memstate("-p", "ending", "--json", "-i", "20ms", "--record", f"{folder}/r")
        out = first_row(series)
        one.end()
        two.end()
        rest, err = series.communicate(timeout=TIMEOUT)
        if b"require SQLite" in err:
            raise Skip("built without SQLite")
        equal(series.returncode, 0, f"status; {err}")
        count = len((out + rest).splitlines())
        last = len(json.loads((out + rest).splitlines()[-1])["processes"])
        check(complaints(err) == [f"memstate: all 2 processes have ended; {count} samples were recorded"]
              or last == 1 and f"has ended; {count} samples were recorded" in complaints(err)[0], err)


@test
def a_series_of_two_continues_while_one_lives():
    with Target("name", "first") as first, Target("name", "second") as second:
        series = start_memstate("-p", f"{first.pid},{second.pid}", "--csv", "-i", "20ms",
                                "-o", "pid,elapsed_s")
        out = first_row(series)
        first.end()
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            out += series.stdout.readline()
        second.process.kill()
        rest, err = series.communicate(timeout=TIMEOUT)
        equal(series.returncode, 0, f"status; {err}")
        rows = parse_csv(out + rest)
        last = {row["pid"]: row["elapsed_s"] for row in rows}
        check(last[first.pid] < last[second.pid], f"the second ended with the first: {last}")


def start_ticks(pid):
    return int(read_proc(pid, "stat").rsplit(b")", 1)[1].split()[19])


def start_as(pid, ticks_before):
    """Start a process with that pid; return None if another process took the pid first.

    The kernel's clock must advance by a tick; otherwise both processes have the
    same start time.
    """
    wait_until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")
               > ticks_before + 1, "the next tick")
    with open("/proc/sys/kernel/ns_last_pid", "w") as f:
        f.write(str(pid - 1))
    other = Target("name", "impostor")
    if other.pid == pid:
        return other
    other.end()
    return None


@test
def a_process_that_reuses_the_pid_is_not_the_target():
    if not IS_ROOT or not os.path.exists("/proc/sys/kernel/ns_last_pid"):
        raise Skip("only root can choose the next pid")
    for _ in range(20):
        with Target("name", "original") as target:
            series = start_memstate("-p", target.pid, "--csv", "-i", "2s", "--max-share",
                                    "100", "-o", "pid,comm")
            out = first_row(series)
            ticks = start_ticks(target.pid)
            target.end()
            impostor = start_as(target.pid, ticks)
            if not impostor:
                series.kill()
                series.communicate()
                continue
            with impostor:
                rest, err = series.communicate(timeout=TIMEOUT)
            equal((series.returncode, complaints(err)), (0, [ended(target.pid, "original", 1)]),
                  "status and stderr")
            equal([row["comm"] for row in parse_csv(out + rest)], ["original"], "names")
            return
    raise Skip("other processes were faster in taking the pid")


def check_without_memory(pid):
    row = sample(pid)
    check_sums(row)
    equal(row["rss_bytes"], 0, "rss_bytes")
    equal(row["mappings"], 0, "mappings")
    memstate("-p", pid, "--text").must_be(0)
    equal(memstate("map", "-p", pid, "--csv").must_be(0).rows(), [], "mappings")


@test
def a_zombie_has_no_memory_and_is_not_an_error():
    with Target("zombie") as target:
        check_without_memory(target.truth["child"])
        equal(sample(target.truth["child"])["state"], "Z", "state")


@test
def a_process_whose_first_thread_has_ended_is_read_through_another():
    with Target("leaderless", 8 << 20) as target:
        pid = target.pid
        wait_until(lambda: status_field(pid, "State").startswith("Z"), "the first thread ends")
        tid, = [t for t in os.listdir(f"/proc/{pid}/task") if int(t) != pid]
        own = sum(int(line.split()[1]) << 10
                  for line in read_proc(pid, f"task/{tid}/smaps").splitlines()
                  if line.startswith(b"Rss:"))
        for columns in ("pid,rss_bytes", "pid,rss_bytes,anon_bytes,stack_bytes,unexplained_bytes"):
            for targets in (("-p", pid), ()):
                rows = memstate("--csv", "-n1", "--heap", "off", "-o", columns, *targets).rows()
                row, = [row for row in rows if row["pid"] == pid]
                equal(row["rss_bytes"], own, f"Rss, {columns} of {targets or 'all'}")
        equal(row["unexplained_bytes"], 0, "unexplained")
        start = f"{target.truth['start']:012x}"
        m, = [m for m in map_rows(pid) if m["start_addr"] == start]
        equal(m["rss_bytes"], 8 << 20, "Rss of what the other thread wrote")
        text = memstate("-p", pid, "--text", "--heap", "off").must_be(0)
        check(b"zombie" not in text.out, text.out)
        heap = memstate("heap", "-p", pid, "-J", "--max-pause", "1m")
        if IS_ROOT and (platform.machine(), platform.libc_ver()[0]) == ("x86_64", "glibc"):
            equal(json.loads(heap.must_be(0).out)["heap_quality"], "exact", "heap")
        with Folder() as folder:
            saved = os.path.join(folder, "saved")
            memstate("capture", "-p", pid, saved).must_be(0)
            row, = memstate("--csv", "--procfs", saved, "-o", "rss_bytes").must_be(0).rows()
            equal(row["rss_bytes"], own, "Rss in a capture")


@test
def a_kernel_thread_has_no_memory_and_is_not_an_error():
    try:
        flags = int(read_proc(2, "stat").rsplit(b")", 1)[1].split()[6])
    except OSError:
        flags = 0
    if not flags & 0x200000:
        raise Skip("process 2 is not a visible kernel thread (in a container, or no permission)")
    check_without_memory(2)


@test
def all_processes_exclude_zombies_and_kernel_threads():
    with Target("zombie") as target:
        rows = memstate("--csv", "-n1", "-o", "pid,state,rss_bytes").rows()
        pids = {row["pid"] for row in rows}
        check(target.pid in pids, "the zombie's parent is missing")
        check(target.truth["child"] not in pids, "the zombie is listed")
        check(2 not in pids or os.readlink("/proc/2/exe"), "the kernel thread is listed")


@test
def a_series_ends_at_a_signal_with_complete_rows():
    with Target("name", "present") as target:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            series = start_memstate("-p", target.pid, "--csv", "-i", "1ms", "--output-all",
                                    "--max-share", "100")
            out = first_row(series)
            series.send_signal(number)
            rest, err = series.communicate(timeout=TIMEOUT)
            equal((series.returncode, complaints(err)), (0, []), f"status and stderr at {number}")
            for row in parse_csv(out + rest):
                check_sums(row)


@test
def a_series_ends_at_a_signal_even_if_it_is_always_late():
    with Target("mappings", 20000) as target:
        series = start_memstate("-p", target.pid, "--csv", "-i", "1ms", "--max-share", "100")
        out = first_row(series)
        series.send_signal(signal.SIGTERM)
        rest, err = series.communicate(timeout=TIMEOUT)
        equal(series.returncode, 0, f"status; {err}")
        parse_csv(out + rest)


@test
def a_signal_that_was_ignored_stays_ignored():
    """As with nohup(1)."""
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with Target("name", "present") as target:
        series = start_memstate("-p", target.pid, "--csv", "-i", "1ms", "--max-share", "100",
                                "-o", "pid", preexec_fn=ignore)
        out = first_row(series)
        series.send_signal(signal.SIGHUP)
        for _ in range(20):
            line = series.stdout.readline()
            check(line, "the series ended too early")
            out += line
        series.send_signal(signal.SIGTERM)
        series.communicate(timeout=TIMEOUT)
        equal(series.returncode, 0, "status")


run()
