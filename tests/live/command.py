# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate -- COMMAND: the command runs unchanged, is sampled to its end, and its
status is reported."""

import os
import signal
import subprocess
import tempfile

from live import (MIB, TARGET, TIMEOUT, UNTIL_SAMPLED, Result, check, check_sums, complaints,
                  equal, memstate, parse_csv, read_proc, run, start_memstate, test, wait_until)

# memstate has sampled the command once it has read this often since the command began. The
# first sample takes some 100 reads, because it also looks for room for the heap's copy.
READS_FIRST = 500
READS_PER_SAMPLE = 20
SAMPLES = 5


def count_reads(pid):
    return int(read_proc(pid, "io").split(b"syscr: ")[1].split()[0])


def count_processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


def run_sampled(script, *args):
    """Run a shell script that reads a line, and continue it once memstate has sampled it."""
    # with -t, each sample also reads a file of each process
    reads_per_sample = READS_PER_SAMPLE + (2 * count_processes() if "-t" in args else 0)
    reads = READS_FIRST + SAMPLES * reads_per_sample
    with tempfile.TemporaryFile() as out:
        # without --max-share, one slow reading on a busy machine increases the interval
        process = start_memstate(*args, "-i", "10ms", "--max-share", "100", "--", "sh", "-c",
                                 f"echo begun; {script}", stdin=subprocess.PIPE, stdout=out)
        equal(process.stderr.readline(), b"begun\n", "the command's first line")
        begun = count_reads(process.pid)
        wait_until(lambda: count_reads(process.pid) > begun + reads, "memstate samples the command")
        _, err = process.communicate(b"continue\n", timeout=TIMEOUT)
        out.seek(0)
        return Result(args, process.returncode, out.read(), err)


@test
def the_exit_status_of_the_command_is_reported():
    for args in (["--csv"], ["--json"], ["--text"], ["--csv", "-t"], ["--text", "-t"]):
        for end, message in (("exit 0", "sh: exited with status 0"),
                             ("exit 7", "sh: exited with status 7"),
                             ("kill -KILL $$", "sh: killed by signal 9")):
            result = run_sampled(f"read line; {end}", *args).must_be(0)
            check(any(message in line for line in result.errors()), f"{args}: {result.err}")


@test
def output_of_the_command_does_not_mix_with_the_rows():
    script = "echo to stdout; echo to stderr >&2; read line"
    result = run_sampled(script, "--csv", "--output-all").must_be(0)
    check(len(result.rows()) > 0, "no rows")
    for row in result.rows():
        check_sums(row)
    check(b"to stdout\n" in result.err and b"to stderr\n" in result.err, result.err)
    result = run_sampled(script, "--text").must_be(0)
    check(b"to stdout\n" in result.err, result.err)
    check(not any(line.startswith(b"to stdout") for line in result.out.splitlines()), result.out)


@test
def a_command_that_cannot_be_started_is_reported():
    for command, why in (("/no/such/program", "No such file"), ("/dev/null", "Permission denied")):
        result = memstate("--csv", "--", command).must_be(1)
        equal(result.out, b"", "stdout")
        equal(len(result.errors()), 1, f"lines of {result.err}")
        check(command in result.errors()[0] and why in result.errors()[0], result.err)


@test
def the_command_inherits_signal_settings_and_open_files():
    def keys(lines):
        return [line for line in lines if line[:6] in (b"SigBlk", b"SigIgn", b"SigCgt", b"SigPnd")]

    command = ["cat", "/proc/self/status"]
    alone = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    below = memstate("--csv", "-i", "10ms", "--", *command).must_be(0).err
    equal(keys(below.splitlines()), keys(alone.splitlines()), "signals")

    def files(lines):
        return [line for line in lines if line.isdigit()]

    command = ["ls", "/proc/self/fd"]
    alone = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    below = memstate("--csv", "-i", "10ms", "--", *command).must_be(0).err
    equal(files(below.splitlines()), files(alone.splitlines()), "open files")


def start_trap(number_name, *args, **popen):
    """Start a command that exits with status 5 on the signal; its output
    is memstate's stderr."""
    script = f'trap "echo caught; exit 5" {number_name}; echo ready; while :; do sleep 0.05; done'
    process = start_memstate(*args, "--csv", "-i", "10ms", "-o", "pid,comm,rss_bytes", "--", "sh",
                             "-c", script, **popen)
    equal(process.stderr.readline(), b"ready\n", "the command's first line")
    # once there is a row, memstate has sampled the command
    process.first = process.stdout.readline() + process.stdout.readline()
    return process


def check_trapped(process):
    out, err = process.communicate(timeout=TIMEOUT)
    equal(process.returncode, 0, f"status; {err}")
    equal(complaints(err), ["caught", "memstate: sh: exited with status 5"], "stderr")
    rows = parse_csv(process.first + out)
    check(len(rows) > 0, "no rows")
    equal({row["comm"] for row in rows}, {"sh"}, "names")


@test
def a_termination_signal_is_passed_on_and_the_command_may_finish():
    process = start_trap("TERM")
    process.send_signal(signal.SIGTERM)
    check_trapped(process)


@test
def control_c_reaches_the_command_once():
    process = start_trap("INT", start_new_session=True)
    os.killpg(process.pid, signal.SIGINT)
    check_trapped(process)


@test
def children_of_the_command_are_followed():
    process = start_memstate("-t", "--csv", "-i", "10ms", "--output-all", "--", TARGET, "family",
                             "2", "1")
    line = b""
    while line != b"ready\n":
        line = process.stderr.readline()
        check(line, "the command ended too early")
    out = process.stdout.readline()
    pids = set()
    while len(pids) < 5:
        row = process.stdout.readline()
        check(row, "the series ended too early")
        out += row
        pids.add(parse_csv(out)[-1]["pid"])
    process.send_signal(signal.SIGTERM)
    rest, err = process.communicate(timeout=TIMEOUT)
    equal(process.returncode, 0, f"status; {err}")
    for row in parse_csv(out + rest):
        check_sums(row)


@test
def the_report_of_a_command_shows_its_largest_sample():
    script = f"x = bytearray({32 * MIB})\n{UNTIL_SAMPLED}\nx = None\n{UNTIL_SAMPLED}"
    result = memstate("--text", "-b", "-i", "20ms", "--max-share", "100", "--", "python3", "-c",
                      script).must_be(0)
    line = [line for line in result.out.decode().splitlines() if line.startswith("= Rss")][0]
    check(int(line.split()[2]) >= 32 * MIB, line)


@test
def a_heap_of_the_command_that_cannot_be_read_is_reported():
    result = memstate("--text", "--heap", "walk", "--max-pause", "1us", "-i", "20ms",
                      "--max-share", "100", "--", "python3", "-c", UNTIL_SAMPLED).must_be(3)
    check(b"heap not read" in result.err, result.err)


run()
