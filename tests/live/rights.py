# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that an ordinary user may not read: counted and said, never shown as empty."""

import subprocess

from live import (MEMSTATE, MIB, Skip, Target, as_nobody, check, equal, json_rows, memstate, run,
                  test)


def check_can_run(become):
    """The build tree may be where only root may go."""
    try:
        subprocess.run([MEMSTATE, "--version"], preexec_fn=become, check=True,
                       stdout=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        raise Skip("the build tree cannot be reached by another user")
    return become


@test
def one_unreadable_process_is_a_failure_that_says_what_would_help():
    become = check_can_run(as_nobody())
    with Target("unbacked", MIB, MIB) as target:
        for args in (["--csv"], ["--json"], ["--text"], ["--csv", "-n1", "--output-all"]):
            result = memstate("-p", target.pid, *args, preexec_fn=become).must_be(1)
            equal(result.out, b"", f"stdout of {args}")
            check(str(target.pid) in result.errors()[0], result.err)
            check("Permission denied" in result.errors()[0], result.err)
        result = memstate("map", "-p", target.pid, "--csv", preexec_fn=become).must_be(1)
        equal(result.out, b"", "stdout of map")


@test
def one_of_two_that_is_unreadable_makes_it_partial():
    become = check_can_run(as_nobody())
    with Target("unbacked", MIB, MIB) as theirs, \
         Target("unbacked", MIB, MIB, preexec_fn=become) as ours:
        result = memstate("-p", f"{theirs.pid},{ours.pid}", "--csv", "-n1",
                          preexec_fn=become).must_be(3)
        equal([row["pid"] for row in result.rows()], [ours.pid], "pids")
        check(str(theirs.pid) in result.errors()[0], result.err)


@test
def of_all_processes_the_unreadable_ones_are_counted():
    become = check_can_run(as_nobody())
    with Target("unbacked", MIB, MIB) as theirs, \
         Target("unbacked", MIB, MIB, preexec_fn=become) as ours:
        result = memstate("--csv", "-n1", "-o", "pid,rss_bytes", preexec_fn=become).must_be(3)
        pids = {row["pid"] for row in result.rows()}
        check(ours.pid in pids, "a process of one's own is not there")
        check(theirs.pid not in pids, "a process that cannot be read is there")
        unreadable, total = [int(word) for word in result.errors()[0].split() if word.isdigit()]
        equal(total - unreadable, len(pids), "readable ones")
        check(unreadable >= 2, f"unreadable: {unreadable}")  # at least this test and its target

        result = memstate("--json", "-n1", "-o", "pid,rss_bytes",
                          preexec_fn=become).must_be(3)
        check(json_rows(result.out)[0]["unreadable"] >= 2, "unreadable in JSON")


run()
