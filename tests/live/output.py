# SPDX-License-Identifier: GPL-2.0-or-later
"""Writing the output may fail: memstate prints complete rows or nothing, and its status
reports the failure."""

import os
import shutil
import signal
import subprocess

from live import (IS_ROOT, MEMSTATE, TIMEOUT, Folder, Skip, Target, check, complaints, equal,
                  json_rows, memstate, parse_csv, run, start_memstate, test)


@test
def a_full_disk_is_reported_once_and_fails():
    with Target("name", "present") as target, open("/dev/full", "wb") as full:
        for args in (["-p", target.pid, "--csv", "-i", "1ms"], ["-p", target.pid, "--json"],
                     ["-p", target.pid, "--text"], ["--text"], ["map", "-p", target.pid],
                     ["map", "-p", target.pid, "--csv"], ["--help"], ["--list-columns"]):
            result = memstate(*args, stdout=full).must_be(1)
            said = [line for line in result.errors() if "No space left" in line]
            equal(len(said), 1, f"{args}: lines of {result.err}")


def fill_tmpfs(mode, target, *args):
    """Write to a file on a 64 KiB tmpfs in a private mount namespace. Return
    what was written."""
    with Folder() as folder:
        script = (f'mount -t tmpfs -o size=64k none "$1" || exit 77; out=$1/out; shift; "$@" {mode}'
                  '"$out" 2>"${out%/*}/../err"; echo $?; cat "$out"')
        os.mkdir(os.path.join(folder, "mnt"))
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            raise Skip("mount namespaces are not available")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", folder + "/mnt", MEMSTATE,
                               "-p", str(target.pid), "-i", "1ms", "--max-share", "100", *args],
                              stdout=subprocess.PIPE, timeout=TIMEOUT)
        if done.returncode == 77:
            raise Skip("mounting a tmpfs is not permitted")
        with open(os.path.join(folder, "err")) as f:
            equal("No space left" in f.read(), True, "the message")
    status, out = done.stdout.split(b"\n", 1)
    equal(status, b"1", "status")
    check(len(out) > 32 * 1024, f"only {len(out)} bytes")
    return out


@test
def a_disk_that_fills_up_keeps_complete_rows_only():
    if not IS_ROOT or not shutil.which("unshare"):
        raise Skip("only root can mount a tmpfs, with unshare(1)")
    with Target("name", "present") as target:
        for mode in (">", ">>"):
            parse_csv(fill_tmpfs(mode, target, "--csv", "--output-all"))
            json_rows(fill_tmpfs(mode, target, "--json", "--output-all"))


@test
def a_closed_pipe_ends_the_output_quietly_after_complete_rows():
    with Target("name", "present") as target:
        for args, is_ignored in ((["--csv"], False), (["--json"], False), (["--csv"], True)):
            # Python ignores SIGPIPE, and passes that on to
            # children unless restore_signals
            series = start_memstate("-p", target.pid, "-i", "1ms", "--max-share", "100",
                                    "--output-all", *args, restore_signals=not is_ignored)
            head = subprocess.run(["head", "-n", "3"], stdin=series.stdout, check=True,
                                  stdout=subprocess.PIPE, timeout=TIMEOUT)
            series.stdout.close()
            err = series.stderr.read()
            series.stderr.close()
            equal(series.wait(TIMEOUT), -signal.SIGPIPE, "status of the series")
            equal(complaints(err), [], "stderr")
            if args == ["--csv"]:
                equal(len(parse_csv(head.stdout)), 2, "rows")
            else:
                equal(len(json_rows(head.stdout)), 3, "lines")


@test
def closed_standard_output_is_an_error():
    with Target("name", "present") as target:
        result = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", MEMSTATE, "-p",
                                 str(target.pid), "--csv", "-n1"], stderr=subprocess.PIPE)
        equal(result.returncode, 1, "status")
        equal(len(result.stderr.splitlines()), 1, f"lines of {result.stderr}")


run()
