# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate count with several runs: figures, limits in a file, and use
with git bisect."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

from live import (MEMSTATE, TIMEOUT, Folder, Skip, check, equal, memstate, read_proc_if_alive,
                  run, start_memstate, test, wait_until)

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "count_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


def counted(*options, status=0):
    return json.loads(memstate("count", "--json", *options).must_be(status).out)


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


@test
def equal_runs_are_reported_as_deterministic():
    said = counted("--runs", 3, "--warm-up", 1, "--", TARGET, "functions")
    equal((said["run_count"], said["program"], said["is_deterministic"]),
          (3, "count_target", True), "runs, program, deterministic")
    equal(said["figures"]["malloc_calls"], {"median": 100, "min": 100, "max": 100}, "malloc")
    equal([r["run"] for r in said["runs"]], [1, 2, 3], "runs")
    text = memstate("count", "--runs", 2, "--", TARGET, "functions").must_be(0).out.decode()
    check("Deterministic to the byte" in text, text)
    check(re.search(r"^malloc +100 +100 +100$", text, re.M), text)


@test
def figures_that_differ_are_listed():
    with Folder() as folder:
        count = os.path.join(folder, "count")
        write(count, "")
        # each run makes one call more than its predecessor
        command = ["sh", "-c", 'echo x >> "$1"; exec "$0" pairs $((100 + $(grep -c x "$1")))',
                   TARGET, count]
        said = counted("--runs", 4, "--", *command)
        equal(said["is_deterministic"], False, "deterministic")
        differing = set(said["differing"]) - {"peak_rss_bytes"}
        equal(differing, {"malloc_calls", "free_calls", "allocation_calls", "requested_bytes",
                          "temporary_blocks"}, "figures that differ")
        equal(said["figures"]["malloc_calls"], {"median": 102.5, "min": 101, "max": 104}, "malloc")
        text = memstate("count", "--runs", 2, "--", *command).must_be(0).out.decode()
        check("Differ between runs: malloc, free, allocations" in text, text)


@test
def csv_has_a_row_for_each_run():
    rows = memstate("count", "--runs", 3, "--csv", "--", TARGET, "pairs", 123).must_be(0).rows()
    equal([(r["run"], r["malloc_calls"], r["program"]) for r in rows],
          [(str(n), "123", "count_target") for n in (1, 2, 3)], "rows")
    rows = memstate("count", "--runs", 1, "--csv", "-o", "run,peak_rss_bytes", "--", TARGET,
                    "pairs", 1).must_be(0).rows()
    equal(list(rows[0]), ["run", "peak_rss_bytes"], "columns")


@test
def iterations_divide_all_figures_except_peaks():
    said = counted("--runs", 2, "--iterations", 8, "--", TARGET, "peak")
    whole = counted("--runs", 2, "--", TARGET, "peak")
    for name, figure in whole["figures"].items():
        share = said["figures"][name]["median"]
        if name.startswith("peak_"):
            continue
        check(figure["median"] / 8 <= share < figure["median"] / 8 + 0.001, f"{name}: {share}")
    equal(said["figures"]["peak_live_bytes"], whole["figures"]["peak_live_bytes"], "peak")
    text = memstate("count", "--runs", 1, "--iterations", 7, "--", TARGET, "pairs", 50).must_be(0).out
    check(b"7.143" in text and b"rounded up" in text, text)


@test
def peak_rss_is_that_of_the_program():
    """Check a program that touches 64 MiB, and one smaller than memstate, whose peak is
    either its own or unknown."""
    said = counted("--runs", 1, "--", "python3", "-c", "x = bytearray(64 << 20)")
    check(64 << 20 < said["figures"]["peak_rss_bytes"]["median"] < 160 << 20, said["figures"])
    said = counted("--runs", 1, "--", TARGET, "status", 0)
    rss = said["figures"]["peak_rss_bytes"]["median"]
    check(rss is None or rss < 4 << 20, f"{rss} of next to nothing")


@test
def children_are_added_up_on_request():
    pairs = ["sh", "-c", '"$0" pairs 5; "$0" pairs 7; :', TARGET]
    for options in (["-t"], []):  # without -t too, since the shell does nothing but run these
        said = counted("--runs", 2, *options, "--", *pairs)
        check(said["figures"]["malloc_calls"]["median"] >= 12, said["figures"]["malloc_calls"])
        equal(said["figures"]["peak_live_bytes"]["median"], None, "peak of several programs")
    err = memstate("count", "--runs", 3, "--", *pairs).must_be(0).err
    equal(err.count(b"all are shown"), 1, f"hints: {err}")
    said = counted("--runs", 2, "--", "timeout", "60", TARGET, "pairs", 7)
    equal((said["program"], said["figures"]["malloc_calls"]["median"]), ("count_target", 7), "one")


@test
def each_run_reads_its_input_from_the_start():
    with Folder() as folder:
        path = os.path.join(folder, "input")
        write(path, "5\n")
        with open(path, encoding="utf-8") as f:
            said = json.loads(memstate("count", "--json", "--runs", 3, "--", "sh", "-c",
                                       f'read n; exec "{TARGET}" pairs $n', stdin=f).must_be(0).out)
        equal(said["figures"]["malloc_calls"], {"median": 5, "min": 5, "max": 5}, "malloc")


@test
def the_exit_status_is_the_commands_unless_limits_are_checked():
    equal(memstate("count", "--runs", 2, "--", TARGET, "status", 7).status, 7, "--runs")
    equal(memstate("count", "--runs", 2, "--", TARGET, "crash", 10).status, 128 + 11, "a crash")
    with Folder() as folder:
        path = os.path.join(folder, "limits")
        write(path, "allocations <= 1000000\n")
        result = memstate("count", "--check", path, "--", TARGET, "status", 7).must_be(125)
        check(b"status 7" in result.err, result.err)
        memstate("count", "--check", path, "--", TARGET, "crash", 10).must_be(125)
        memstate("count", "--check", path, "--", "/nonexistent").must_be(125)
        memstate("count", "--check", path, "--", path).must_be(125)
        memstate("count", "--check", path, "--update", "--", TARGET, "status", 7).must_be(125)
        equal(read(path), "allocations <= 1000000\n", "the file after a run that failed")


@test
def a_broken_limit_is_status_4_and_a_line_for_each():
    with Folder() as folder:
        path = os.path.join(folder, "limits")
        write(path, "# none of ours\n[other]\nallocations <= 1\n\n[count_target]\n"
                    "allocations <= 100\nrequested_bytes = 1600 +- 1%\nlive_blocks <= 0\n")
        memstate("count", "--check", path, "--", TARGET, "pairs", 100).must_be(0)
        result = memstate("count", "--check", path, "--", TARGET, "pairs", 101).must_be(4)
        lines = [line for line in result.errors() if "limits:" in line]
        equal(len(lines), 1, f"lines: {result.errors()}")
        check("limits:6: allocations: 101 is above the limit of 100 by 1 (1.0%)" in lines[0], lines)
        result = memstate("count", "--check", path, "--", TARGET, "pairs", 90).must_be(4)
        check("limits:7: requested_bytes: 1440 is below the baseline of 1600 by 160 (10.0%, "
              "tolerance 1%)" in result.err.decode(), result.err)
        check("hint:" in result.err.decode() and "limits:6" in result.err.decode(), result.err)
        said = counted("--check", path, "--", TARGET, "pairs", 101, status=4)
        equal([(l["figure"], l["outcome"]) for l in said["limits"]],
              [("allocation_calls", "above"), ("requested_bytes", "kept"), ("live_blocks", "kept")],
              "in JSON")
        equal(said["run_count"], 3, "runs")
        result = memstate("count", "--check", path, "--test", "other", "--", TARGET, "pairs", 5)
        equal(result.must_be(4).out != b"", True, "there is a report")


@test
def unchecked_limits_give_status_125():
    with Folder() as folder:
        path = os.path.join(folder, "limits")
        pairs = ["--", TARGET, "pairs", 5]
        check(b"--update to create it" in memstate("count", "--check", path, *pairs).must_be(125).err, "")
        write(path, "[other]\nallocations <= 1\n")
        check(b"[count_target]" in memstate("count", "--check", path, *pairs).must_be(125).err, "")
        write(path, "allocations <= 10\nalocations <= 1\n")
        result = memstate("count", "--check", path, *pairs).must_be(125)
        check(b"limits:2: 'alocations': unknown figure" in result.err, result.err)
        write(path, "allocations <= 10\npeak_live_bytes <= 1K\n")
        memstate("count", "--check", path, "--calls-only", *pairs).must_be(125)
        write(path, "allocations <= 1\npeak_live_bytes <= 1K\n")
        memstate("count", "--check", path, "--calls-only", *pairs).must_be(4)
        for wrong in (["--update"], ["--test", "a"], ["--iterations", 2], ["--warm-up", 2],
                      ["--runs", 2, "-i", "1s"], ["--runs", 0], ["--runs", 2, "--iterations", 0]):
            memstate("count", *wrong, *pairs).must_be(2)


@test
def update_keeps_comments_and_formatting():
    with Folder() as folder:
        path = os.path.join(folder, "limits")
        memstate("count", "--check", path, "--update", "--", TARGET, "peak").must_be(0)
        made = read(path)
        check(made.startswith("#") and "[count_target]\nallocations <= 1003\n" in made, made)
        memstate("count", "--check", path, "--", TARGET, "peak").must_be(0)
        text = ("# ours\r\n[count_target]  # pairs\n  allocations   <=  1.5 # tight\n\n"
                "# bytes\nrequested_bytes=1K +- 2%\n\n[later]\nallocations <= 3\n")
        write(path, text)
        memstate("count", "--check", path, "--update", "--", TARGET, "pairs", 100).must_be(0)
        peak = re.search(r"^peak_live_bytes <= (\d+)\n", read(path), re.M)
        equal(read(path), text.replace("  1.5 #", "  100 #").replace(
            "1K +- 2%\n", f"1600 +- 2%\ntemporary_blocks <= 100\nlive_blocks <= 0\n"
            f"peak_live_bytes <= {peak[1]}\n"), "the file")
        memstate("count", "--check", path, "--test", "late", "--update", "--", TARGET, "pairs", 9)
        check(read(path).endswith("[later]\nallocations <= 3\n\n[late]\nallocations <= 9\n"
                                  + read(path).rpartition("allocations <= 9\n")[2]), read(path))
        equal(os.listdir(folder), ["limits"], "files in the folder")
        write(path, "# all\nallocations = 3\n")
        memstate("count", "--check", path, "--update", "--", TARGET, "pairs", 4).must_be(0)
        check(read(path).startswith("# all\nallocations = 4\nrequested_bytes <= 64\n"), read(path))


@test
def sigterm_ends_the_runs():
    series = start_memstate("count", "--runs", 1000, "--", TARGET, "loop")
    wait_until(lambda: any(read_proc_if_alive(pid, "comm") == b"count_target\n"
                           for pid in children(series.pid)), "the command is running")
    series.send_signal(signal.SIGTERM)
    out, _ = series.communicate(timeout=TIMEOUT)
    equal((series.returncode, out), (128 + signal.SIGTERM, b""), "status and output")


def children(pid):
    try:
        return read(f"/proc/{pid}/task/{pid}/children").split()
    except FileNotFoundError:
        raise Skip("this kernel does not list children") from None


PROGRAM = """#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < %d; i++) {
		void *volatile p = malloc(10);
		free(p);
	}
	%s
	return 0;
}
"""


@test
def git_bisect_finds_the_commit_that_allocates_more():
    if not shutil.which("git") or not shutil.which("cc"):
        raise Skip("git or cc is not installed")
    with Folder() as folder:
        def git(*args):
            env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
            for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
                env.pop(name, None)
            done = subprocess.run(["git", "-C", repository, "-c", "user.name=a", "-c",
                                   "user.email=a@example.org", "-c", "commit.gpgsign=false", *args],
                                  capture_output=True, timeout=TIMEOUT, env=env)
            equal(done.returncode, 0, f"git {args}: {done.stdout + done.stderr}")
            return done.stdout.decode()

        repository, limits = os.path.join(folder, "tool"), os.path.join(folder, "limits.txt")
        os.mkdir(repository)
        git("init", "-q")
        # bytes allocated, and any other fault of the commit; bisect begins in the middle
        commits = {"one": (10, ""), "two": (10, ";"), "more": (11, ""),
                   "does not build": (10, "no such thing;"),
                   "fails by itself": (5, "return 3;"), "after": (11, ";"), "last": (11, ";;")}
        for number, (subject, (calls, more)) in enumerate(commits.items()):
            write(os.path.join(repository, "tool.c"), PROGRAM % (calls, more))
            write(os.path.join(repository, "number"), str(number))
            git("add", ".")
            git("commit", "-qm", subject)
        write(limits, "[tool]\nallocations <= 10\n")
        git("bisect", "start", "HEAD", "HEAD~6")
        script = os.path.join(folder, "run.sh")
        write(script, "rm -f tool; cc -o tool tool.c; exec " +
              f"'{MEMSTATE}' count --runs 3 --check '{limits}' -- ./tool\n")
        said = git("bisect", "run", "sh", script)
        check("more" in git("log", "-1", "--format=%s", "refs/bisect/bad"), said)
        skipped = git("for-each-ref", "refs/bisect").count("refs/bisect/skip")
        check(skipped >= 1, f"no commit was skipped: {said}")
        git("bisect", "reset")
        # a script that needs no build runs unchanged
        git("bisect", "start", "HEAD", "HEAD~6")
        said = git("bisect", "run", MEMSTATE, "count", "--runs", "2", "--check", limits, "--test",
                   "tool", "--", "sh", "-c", f"exec '{TARGET}' pairs $((9 + $(cat number)))")
        check("more" in git("log", "-1", "--format=%s", "refs/bisect/bad"), said)


run()
