# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes named like lines of the files that memstate reads: only the kernel's
own lines count."""

import ctypes
import os
import struct
import subprocess
import sys

from live import Skip, check, equal, memstate, run, sample, test, wait_until

PR_SET_NAME, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER_MODE = 15, 38, 22, 2
RET_ALLOW = 0x7fff0000

# Lines of status, ends of the name in stat, terminal sequences; at most 15 bytes each.
NAMES = [b"State:\tZ", b"State:\tX (dead)", b"TracerPid:\t9", b"Seccomp:\t2", b"a\nState:\tZ",
         b"a\nTracerPid:\t9", b"a) Z 1 1 (", b") Z 0 0 0", b"x) X", b"\nUid:\t1\t2", b"NSpid:\t1",
         b"(((", b")))", b" ", b"\x1b[31m\\n", b"a\\", b"VmHWM:\t9 kB", b"\xff\xfe"]


class Named:
    """A process that has set its own name and, on request, a seccomp filter."""

    def __init__(self, name, has_filter=False):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "named", name.hex(), str(int(has_filter))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        said = self.process.stdout.readline()
        if said != b"ready\n":
            self.end()
            raise Skip("a process cannot filter its system calls here")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def be_named(name, has_filter):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NAME, name, 0, 0, 0)
    if has_filter:
        allow = struct.pack("=HBBI", 6, 0, 0, RET_ALLOW)
        text = ctypes.create_string_buffer(allow)
        program = struct.pack("=H6xQ", 1, ctypes.addressof(text))
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or \
                libc.prctl(PR_SET_SECCOMP, FILTER_MODE, program, 0, 0) != 0:
            sys.exit(1)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


def comm_of(pid):
    with open(f"/proc/{pid}/comm", "rb") as f:
        return f.read()[:-1]


def helper_of(pid):
    """Return what memstate doctor reports about the helper, without injecting one."""
    words = " ".join(memstate("doctor", "-p", str(pid)).out.decode().split())
    check(" helper " in words, "the doctor does not mention the helper")
    return words[words.index(" helper "):]


def is_sleeping(pid):
    with open(f"/proc/{pid}/stat", "rb") as f:
        return f.read().rpartition(b") ")[2][:1] == b"S"


@test
def a_name_cannot_hide_a_seccomp_filter():
    for name in (b"Seccomp:\t0", b"x\nSeccomp:\t0"):
        with Named(name, has_filter=True) as named:
            equal(comm_of(named.pid), name, "comm of the process")
            check("seccomp" in helper_of(named.pid), f"{name}: {helper_of(named.pid)}")
            result = memstate("heap", "--heap", "helper", "-p", str(named.pid))
            check(b"seccomp" in result.err, f"{name}: {result.err}")
            equal(named.process.poll(), None, "exit status while it must be running")
            result = memstate("count", "-p", str(named.pid), "--probe", "inject", "-n", "1",
                              "-i", "0.1")
            check(b"seccomp" in result.err, f"{name}: {result.err}")
            equal(named.process.poll(), None, "exit status while it must be running")


@test
def a_name_cannot_fake_a_seccomp_filter():
    with Named(b"plain") as named:
        plain = helper_of(named.pid).replace(str(named.pid), "PID")
    for name in NAMES:
        with Named(name) as named:
            equal(comm_of(named.pid), name, "comm of the process")
            equal(helper_of(named.pid).replace(str(named.pid), "PID"), plain, f"{name}")


@test
def figures_do_not_depend_on_the_name():
    for name in NAMES:
        with Named(name) as named:
            wait_until(lambda: is_sleeping(named.pid), "the process sleeps")
            row = sample(named.pid, ["ppid", "state", "threads", "rss_bytes"], heap="off")
            equal((row["ppid"], row["state"], row["threads"]), (os.getpid(), "S", 1), f"{name}")
            check(row["rss_bytes"] > 1 << 20, f"{name}: {row}")
            result = memstate("heap", "--heap", "walk", "-p", str(named.pid))
            check(b"ended" not in result.err and b"no such process" not in result.err and
                  b"trace" not in result.err, f"{name}: {result.err}")


if len(sys.argv) > 1 and sys.argv[1] == "named":
    be_named(bytes.fromhex(sys.argv[2]), sys.argv[3] == "1")
else:
    run()
