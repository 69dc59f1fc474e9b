# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that an ordinary user cannot read are counted and reported, never
shown as empty."""

import contextlib
import os
import shutil
import subprocess

from live import (IS_ROOT, MEMSTATE, MIB, Skip, Target, as_nobody, check, equal, json_rows,
                  memstate, run, test)


@contextlib.contextmanager
def somebody_elses():
    """Return a process of another user, and a preexec_fn; as root, run memstate
    as another user."""
    if not IS_ROOT:
        if os.stat("/proc/1").st_uid == os.geteuid():
            raise Skip("process 1 belongs to the same user")
        yield 1, None
        return
    become = as_nobody()
    try:
        subprocess.run([MEMSTATE, "--version"], preexec_fn=become, check=True,
                       stdout=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        raise Skip("the build tree cannot be reached by another user") from None
    with Target("unbacked", MIB, MIB) as target:
        yield target.pid, become


@test
def one_unreadable_process_is_an_error_with_a_remedy():
    with somebody_elses() as (theirs, become):
        for args in (["--csv"], ["--json"], ["--text"], ["--csv", "-n1", "--output-all"]):
            result = memstate("-p", theirs, *args, preexec_fn=become).must_be(1)
            equal(result.out, b"", f"stdout of {args}")
            check(f"{theirs}: Permission denied" in result.errors()[0], result.err)
        result = memstate("map", "-p", theirs, "--csv", preexec_fn=become).must_be(1)
        equal(result.out, b"", "stdout of map")


@test
def one_unreadable_process_of_two_is_a_partial_result():
    with somebody_elses() as (theirs, become), \
         Target("unbacked", MIB, MIB, preexec_fn=become) as ours:
        result = memstate("-p", f"{theirs},{ours.pid}", "--csv", "-n1",
                          preexec_fn=become).must_be(3)
        equal([row["pid"] for row in result.rows()], [ours.pid], "pids")
        check(f"{theirs}: Permission denied" in result.errors()[0], result.err)


@test
def unreadable_processes_are_counted_when_all_are_listed():
    with somebody_elses() as (theirs, become), \
         Target("unbacked", MIB, MIB, preexec_fn=become) as ours:
        result = memstate("--csv", "-n1", "-o", "pid,rss_bytes", preexec_fn=become).must_be(3)
        pids = {row["pid"] for row in result.rows()}
        check(ours.pid in pids, "the user's own process is missing")
        check(theirs not in pids, "a process that cannot be read is listed")
        numbers = [int(word) for word in result.errors()[0].split() if word.isdigit()]
        unreadable, total = numbers[:2]
        equal(total - unreadable, len(pids), "readable ones")
        check(unreadable >= 1, f"unreadable: {unreadable}")

        result = memstate("--json", "-n1", "-o", "pid,rss_bytes", preexec_fn=become).must_be(3)
        check(json_rows(result.out)[0]["unreadable"] >= 1, "unreadable in JSON")


@test
def root_without_the_capability_is_not_advised_to_run_as_root():
    if not IS_ROOT or not shutil.which("setpriv"):
        raise Skip("requires root and setpriv to drop capabilities")
    with Target("unbacked", MIB, MIB, preexec_fn=as_nobody()) as theirs:
        # CAP_PERFMON may also read memory maps since Linux 6.16;
        # CAP_SYS_ADMIN includes CAP_PERFMON
        result = subprocess.run(
            ["setpriv", "--inh-caps=-all", "--bounding-set=-sys_ptrace,-perfmon,-sys_admin",
             MEMSTATE, "-p", str(theirs.pid), "--text"], capture_output=True, text=True, check=False)
    equal(result.returncode, 1, "exit status")
    check("refused even to root" in result.stderr, result.stderr)
    check("only its owner and root" not in result.stderr, result.stderr)


run()
