# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for the tests of copies before the pause: the target, the comparing tool, and
memstate's reports."""

import errno
import json
import os
import re
import subprocess
import sys

from inject_lib import FOLDER
from live import MEMSTATE, Skip, equal, read_proc, wait_until

STORM = os.path.join(FOLDER, "storm_target")
TOOL = os.path.join(FOLDER, "pre_copy_tool")

# groups of what storm_target does while its memory is copied
STORMS = [["write"], ["malloc", "trim"], ["mremap", "munmap"], ["fork", "exec"], ["thp", "mlock"]]
ALL_STORMS = [storm for storms in STORMS for storm in storms]


class Merging:
    """ksmd merges equal pages, and looks for them all the time."""

    FOLDER = "/sys/kernel/mm/ksm"
    SETTINGS = {"pages_to_scan": "20000", "sleep_millisecs": "2", "run": "1"}

    def __enter__(self):
        self.before = {}
        try:
            for name, value in self.SETTINGS.items():
                with open(f"{self.FOLDER}/{name}", "r+", encoding="ascii") as f:
                    self.before[name] = f.read().strip()
                    f.write(value)
        except OSError as error:
            self.__exit__()
            raise Skip(f"pages cannot be merged: {error}") from error

    def __exit__(self, *unused):
        for name, value in self.before.items():
            with open(f"{self.FOLDER}/{name}", "w", encoding="ascii") as f:
                f.write(value)


def wait_for_merged_pages(pid):
    wait_until(lambda: int(read_proc(pid, "ksm_merging_pages")) > 100, "merged pages")


class Storm:
    """tests/targets/storm_target."""

    def __init__(self, mib, *storms, prefix=(), **popen):
        self.process = subprocess.Popen([*prefix, STORM, str(mib), *storms], stdout=subprocess.PIPE,
                                        **popen)
        self.pid = self.process.pid
        equal(self.process.stdout.readline(), b"ready\n", "the target's output")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def tool(pid, *args):
    result = subprocess.run([TOOL, *map(str, args), str(pid)], stdout=subprocess.PIPE, check=False)
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines()]


def skip_if_unavailable():
    """End the test with the status of a skipped one where the kernel does not track writes, or
    this environment does not permit it, as in a container with a seccomp filter."""
    with Storm(1, "quiet") as target:
        _, (once,) = tool(target.pid)
        if once["result"] in (-errno.EINVAL, -errno.ENOSYS, -errno.EPERM, -errno.EOPNOTSUPP):
            print(f"skipped: the kernel does not track writes: {once}", file=sys.stderr)
            sys.exit(77)


def tracked_mappings(pid):
    return re.findall(rb"^VmFlags:.* u[wmi]\b.*$", read_proc(pid, "smaps"), re.M)


def heap_json(pid, *args, **popen):
    result = subprocess.run([MEMSTATE, "heap", "--json", "-p", str(pid), *args], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False, **popen)
    if result.returncode != 0:
        return None, result.stderr.decode()
    (line,) = result.stdout.splitlines()
    return json.loads(line), result.stderr.decode()


def figures(report):
    """Return what must be equal, however the heap was copied."""
    return {key: value for key, value in report.items()
            if key not in ("pause_s", "pre_copy")}


PREPARE = """
import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def failed(what):
    sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
"""
# PR_SET_NO_NEW_PRIVS, then a filter that allows everything
SECCOMP = PREPARE + """
libc.prctl(38, 1, 0, 0, 0)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
libc.prctl(22, 2, program) == 0 or failed("seccomp")
os.execv(sys.argv[1], sys.argv[1:])
"""
