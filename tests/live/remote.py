# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and files on a hung file system: memstate neither reads them nor
waits for them."""

import json
import os
import shutil
import subprocess

from live import MEMSTATE, OrderedTarget, Skip, check, equal, memstate, read_proc, run, test

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "fuse_target")
NO_HURRY = ("--max-pause", "60s")


class SilentTarget(OrderedTarget):
    """A target that maps files of a FUSE file system that no longer answers."""

    def __init__(self, *mode):
        probe = subprocess.run([PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                               check=False)
        if probe.returncode == 77:
            raise Skip("FUSE is not available")
        super().__init__([PROGRAM, *mode])
        self.order(b"h")

    def check_silence(self):
        equal(self.order(b"r")["requests"], 0, "requests to the file system")
        check(b"\nState:\tS" in read_proc(self.pid, "status"), "the target is blocked")
        check(b"\nTracerPid:\t0\n" in read_proc(self.pid, "status"), "the target is still traced")


@test
def the_heap_is_exact_without_a_file_system_request():
    with SilentTarget() as target:
        heap = json.loads(memstate("heap", "-p", target.pid, "-J", *NO_HURRY).must_be(0).out)
        equal(heap["heap_quality"], "exact", "quality")
        target.check_silence()
        row = memstate("-p", target.pid, "--csv", "-n1", "--heap", "walk", "--output-all",
                       *NO_HURRY).must_be(0).rows()[0]
        equal(row["heap_quality"], "exact", "quality of the row")
        target.check_silence()


@test
def a_leak_scan_reports_the_memory_it_skips():
    with SilentTarget() as target:
        result = memstate("leaks", "-p", target.pid, *NO_HURRY).must_be(0)
        check(b"skipped 1 mapping (1.0M) backed by FUSE" in result.err and
              result.err.endswith(b"the first is /mnt/file\n"), result.err)
        target.check_silence()


@test
def an_address_in_a_hung_mapping_is_explained_without_reading_it():
    with SilentTarget() as target:
        for place in ("shared", "private", "program"):
            out = memstate("explain", "-p", target.pid, "-J", *NO_HURRY,
                           f"{target.truth[place] + 8:x}").must_be(0).out
            answer = json.loads(out)
            check(answer["mapping"]["name"].startswith("/mnt/"), answer)
            target.check_silence()


def check_lookups(target, *prefix):
    """Check that no request is made, with and without permission to open mapped files
    through map_files."""
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
def no_path_on_a_hung_file_system_is_looked_up():
    for mode in ("covered", "root"):
        with SilentTarget(mode) as target:
            check_lookups(target)
            if os.getuid() == 0 and shutil.which("setpriv"):
                check_lookups(target, "setpriv", "--bounding-set=-sys_admin,-checkpoint_restore")


@test
def a_running_target_causes_no_request_either():
    with SilentTarget() as target:
        memstate("heap", "-p", target.pid, "--no-stop").must_be(0)
        memstate("map", "-p", target.pid).must_be(0)
        target.check_silence()


run()
