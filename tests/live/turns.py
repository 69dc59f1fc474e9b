# SPDX-License-Identifier: GPL-2.0-or-later
"""No process is stopped in vain, and a memstate waits briefly for another one."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

from heap_lib import HeapTarget
from live import (TIMEOUT, Skip, check, equal, memstate, read_proc, read_proc_if_alive, run,
                  start_memstate, test, wait_until)

OWN_NAME = "memstate"
NO_HURRY = ("--max-pause", "60s")
# PTRACE_SEIZE does not stop the process, but excludes other tracers
TRACER = """
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(15, sys.argv[2].encode(), 0, 0, 0)
libc.prctl(1, 9, 0, 0, 0)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, int(sys.argv[1]), None, None) != 0:
    sys.exit(77)
print("ready", flush=True)
time.sleep(float(sys.argv[3]))
"""
# anonymous memory at the addresses of Go's heap, most of the process's resident memory
GO_LIKE = """
import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
p = libc.mmap(0xc000000000, 64 << 20, 3, 0x100022, -1, 0)
ctypes.memset(p, 1, 64 << 20)
libc.prctl(1, 9, 0, 0, 0)
print("ready", flush=True)
time.sleep(60)
"""


class Script:
    def __init__(self, text, *args):
        self.process = subprocess.Popen([sys.executable, "-c", text, *[str(a) for a in args]],
                                        stdout=subprocess.PIPE)
        self.pid = self.process.pid
        equal(self.process.stdout.readline(), b"ready\n", "script")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@test
def memory_at_the_address_of_gos_heap_is_unknown_if_it_is_not_that_heap():
    with Script(GO_LIKE) as target:
        for verb in ("heap", "leaks"):
            result = memstate(verb, "-p", target.pid, *NO_HURRY).must_be(1)
            check(b"Go program" in result.err, result.err)
        row = memstate("-p", target.pid, "--csv", "-n1", "--heap", "off", "-o",
                       "allocator").must_be(0).rows()[0]
        equal(row["allocator"], "go", "allocator in a report without heap figures")


def find_children(pid):
    """Return all descendants of the process."""
    own = [int(child) for child in read_proc_if_alive(f"{pid}/task/{pid}", "children").split()]
    return own + [below for child in own for below in find_children(child)]


def find_renderers(browser):
    return [pid for pid in find_children(browser.pid)
            if b"--type=renderer" in read_proc_if_alive(pid, "cmdline")]


@test
def chromium_is_recognized_in_all_reports():
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        raise Skip("Chromium is not installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        argv = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                f"--user-data-dir={folder}", "about:blank"]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**os.environ, "TMPDIR": folder}) as browser:
            try:
                wait_until(lambda: browser.poll() is not None or find_renderers(browser),
                           "a renderer runs")
                if browser.poll() is not None:
                    raise Skip("Chromium does not start")
                # the GPU process is left out, because it may end and be started again
                for pid in [browser.pid, find_renderers(browser)[0]]:
                    heap = memstate("heap", "-p", pid, *NO_HURRY).must_be(0).out
                    check(b"PartitionAlloc (Chromium's malloc)" in heap, heap)
                    row = memstate("-p", pid, "--csv", "-n1", "--heap", "off", "-o",
                                   "allocator").must_be(0).rows()[0]
                    equal(row["allocator"], "PartitionAlloc", "allocator")
                    check(b"PartitionAlloc (Chromium)" in memstate("doctor", "-p", pid).out, "doctor")
            finally:
                browser.kill()


@test
def memstate_waits_for_another_memstate():
    with HeapTarget("fragmented", 1) as target:
        with Script(TRACER, target.pid, OWN_NAME, 0.3):
            memstate("heap", "-p", target.pid, *NO_HURRY).must_be(0)


@test
def all_waits_of_a_run_have_one_deadline():
    with contextlib.ExitStack() as stack:
        targets = [stack.enter_context(HeapTarget("fragmented", 1)) for _ in range(4)]
        for target in targets:
            stack.enter_context(Script(TRACER, target.pid, OWN_NAME, 600))
        result = memstate("heap", *[arg for t in targets for arg in ("-p", t.pid)], *NO_HURRY).must_be(1)
        errors = result.errors()
        # memstate names the other one after half a second of waiting for a process
        equal([line.split(":")[1].strip() for line in errors if "waiting for another memstate" in line],
              [str(targets[0].pid)], "processes for which memstate waited")
        equal(len([line for line in errors if "another memstate is reading it" in line]), len(targets),
              "processes that were not read")


@test
def another_memstate_is_named_after_a_moment():
    with HeapTarget("fragmented", 1) as target:
        for verb in ("heap", "leaks"):
            with Script(TRACER, target.pid, OWN_NAME, 60) as tracer:
                process = start_memstate(verb, "-p", target.pid, *NO_HURRY)
                line = process.stderr.readline().decode()
                check(line.startswith(f"memstate: {target.pid}: waiting for another memstate: "
                                      f"process {tracer.pid} ({sys.executable} -c"), line)
            # the tracer is gone
            out, err = process.communicate(timeout=TIMEOUT)
            equal((process.returncode, err), (0, b""), "status and further messages")
            check(out, "no report")


@test
def a_remaining_tracer_is_named():
    with HeapTarget("fragmented", 1) as target:
        for name, reason in ((OWN_NAME, f"another memstate is reading it: process %d ({sys.executable} "),
                             ("some debugger", "another tracer is attached: process %d (some debugger)")):
            with Script(TRACER, target.pid, name, 60) as tracer:
                result = memstate("heap", "-p", target.pid, *NO_HURRY).must_be(1)
                line = result.errors()[-1]
                check(line.startswith(f"memstate: {target.pid}: heap not read: {reason % tracer.pid}"),
                      result.err)
            wait_until(lambda: b"\nTracerPid:\t0\n" in read_proc(target.pid, "status"),
                       "the tracer is gone")


run()
