# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and files on a file system that does not answer are never read, and never waited for."""

import json
import os
import shutil
import subprocess

from live import MEMSTATE, OrderedTarget, Skip, check, equal, memstate, read_proc, run, test

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "fuse_target")
NO_HURRY = ("--max-pause", "60s")


class SilentTarget(OrderedTarget):
    """Maps files of a FUSE file system, which answers nothing any more."""

    def __init__(self, *mode):
        probe = subprocess.run([PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                               check=False)
        if probe.returncode == 77:
            raise Skip("FUSE is not available")
        super().__init__([PROGRAM, *mode])
        self.order(b"h")

    def check_silence(self):
        equal(self.order(b"r")["requests"], 0, "requests to the file system")
        check(b"\nState:\tS" in read_proc(self.pid, "status"), "the target waits")
        check(b"\nTracerPid:\t0\n" in read_proc(self.pid, "status"), "nobody traces it")


@test
def the_heap_is_exact_and_nothing_is_asked_of_the_file_system():
    with SilentTarget() as target:
        heap = json.loads(memstate("heap", "-p", target.pid, "-J", *NO_HURRY).must_be(0).out)
        equal(heap["heap_quality"], "exact", "quality")
        target.check_silence()
        row = memstate("-p", target.pid, "--csv", "-n1", "--heap", "walk", "--output-all",
                       *NO_HURRY).must_be(0).rows()[0]
        equal(row["heap_quality"], "exact", "quality of the row")
        target.check_silence()


@test
def a_search_for_leaks_names_what_it_leaves_out():
    with SilentTarget() as target:
        result = memstate("leaks", "-p", target.pid, *NO_HURRY).must_be(0)
        check(b"not read: 1 mapping, 1.0M," in result.err and
              result.err.endswith(b"the first is /mnt/file\n"), result.err)
        target.check_silence()


@test
def an_address_on_it_is_explained_without_a_look_at_it():
    with SilentTarget() as target:
        for place in ("shared", "private", "program"):
            out = memstate("explain", "-p", target.pid, "-J", *NO_HURRY,
                           f"{target.truth[place] + 8:x}").must_be(0).out
            answer = json.loads(out)
            check(answer["mapping"]["name"].startswith("/mnt/"), answer)
            target.check_silence()


def check_lookups(target, *prefix):
    """No request, whether or not the kernel opens the files for us (map_files)."""
    commands = (["heap"], ["leaks"], ["explain", f"{target.truth['libc']:x}"])
    for command, *address in commands:
        argv = [*prefix, MEMSTATE, command, "-p", str(target.pid), *NO_HURRY, *address]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                _, err = process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                target.order(b"a")  # a killed process would wait for the file system
                process.kill()
                raise AssertionError(f"{argv} hangs") from None
        check(process.returncode in (0, 3), (argv, process.returncode, err))
        target.check_silence()


@test
def no_name_is_looked_up_on_it():
    for mode in ("covered", "root"):
        with SilentTarget(mode) as target:
            check_lookups(target)
            if os.getuid() == 0 and shutil.which("setpriv"):
                check_lookups(target, "setpriv", "--bounding-set=-sys_admin,-checkpoint_restore")


@test
def while_the_target_runs_nothing_is_asked_either():
    with SilentTarget() as target:
        memstate("heap", "-p", target.pid, "--no-stop").must_be(0)
        memstate("map", "-p", target.pid).must_be(0)
        target.check_silence()


run()
