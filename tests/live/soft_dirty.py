#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Large heaps are copied before the pause by means of soft-dirty bits, if the user asks for
that: the copy must be the memory of the stopped process, nothing may be injected, and bits
that others seem to use are left alone.

Most tests require a kernel with CONFIG_MEM_SOFT_DIRTY; "make check-qemu" runs them.
"""

import errno
import fcntl
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from inject_lib import facts
from live import (IS_ROOT, MEMSTATE, PAGE, Skip, check, equal, read_proc, run, status_field,
                  test, wait_until)
from pre_copy_lib import PREPARE, Storm, figures, heap_json, tool

STORMS = [["write"], ["malloc", "trim"], ["mremap", "munmap"], ["exchange"], ["fork", "exec"],
          ["thp", "mlock"]]
ALL_STORMS = [storm for storms in STORMS for storm in storms]
SOFT = "--pre-copy=soft-dirty"

# Plain pauses of heaps of these sizes would take longer than the limits, by memstate's own
# estimate. An emulated machine needs most of the larger limit even for a short pause, and
# cannot meet the smaller one.
SMALL, SMALL_LIMIT = 60, "--max-pause=15ms"
BIG, LIMIT = 512, "--max-pause=195ms"
TRIES = 4

SOFT_DIRTY = 1 << 55
PRESENT = 1 << 63


def entries(pid, start, end):
    """Return the pagemap entries of the pages from start to end."""
    with open(f"/proc/{pid}/pagemap", "rb") as f:
        f.seek(start // PAGE * 8)
        data = f.read((end - start) // PAGE * 8)
    return struct.unpack(f"={len(data) // 8}Q", data)


def kernel_has_bits():
    """The kernel sets the bit of each page of a new mapping that was written."""
    with mmap.mmap(-1, PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        area[0] = 1
        for line in read_proc("self", "maps").decode().splitlines():
            start, end = (int(x, 16) for x in line.split()[0].split("-"))
            if " rw-p 00000000 00:00 0" in line and end - start < 1 << 30 and any(
                    e & SOFT_DIRTY for e in entries("self", start, end)):
                return True
    return False


HAS_BITS = kernel_has_bits()


def count_bits(pid):
    """Return how many pages of the process's large mappings have the bit, and how many do
    not."""
    counts = [0, 0]
    for line in read_proc(pid, "maps").decode().splitlines():
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if " rw-p 00000000 00:00 0" in line and end - start > 1 << 20:
            for entry in entries(pid, start, end):
                if entry & PRESENT:
                    counts[not entry & SOFT_DIRTY] += 1
    return counts


def need_bits():
    if not HAS_BITS:
        raise Skip("the kernel has no soft-dirty bits")
    if not IS_ROOT:
        raise Skip("requires root")


def check_unharmed(target, before):
    equal(target.process.poll(), None, "exit status")
    equal(status_field(target.pid, "TracerPid"), "0", "TracerPid")
    equal(facts(target.pid), before, "facts about the target")


@test
def a_kernel_without_the_bits_is_refused_with_a_way_out():
    if HAS_BITS:
        raise Skip("this kernel has soft-dirty bits")
    with Storm(SMALL, "quiet") as target:
        before = facts(target.pid)
        report, said = heap_json(target.pid, SMALL_LIMIT, SOFT)
        equal(report, None, "the report")
        equal(said.count("\n"), 1, f"lines in {said}")
        check("--max-pause permits a longer pause" in said and "no soft-dirty bits" in said, said)
        check_unharmed(target, before)
        report, said = heap_json(target.pid, "--max-pause=30s", SOFT)
        check(report, said)
        equal(report["pre_copy"], None, "a plain pause")


def compare(storms, tries, mib, *args):
    """Compare copies with the stopped process; return how many were compared."""
    with Storm(mib, *storms) as target:
        status, results = tool(target.pid, "-s", "-n", tries, *args)
        equal(status, 0, "status of the tool")
        for r in results:
            # a page that was just being migrated, or bits that were lost
            check(r["result"] in (0, -errno.EAGAIN, -errno.ESTALE), f"{storms}: {r}")
            equal((r["missing"], r["different"], r["surplus"]), (0, 0, 0), f"{storms}: wrong pages")
        done = [r for r in results if r["result"] == 0]
        if "write" in storms and done:
            check(any(r["late"] > 100 for r in done), f"nothing was written meanwhile: {results}")
    return len(done)


@test
def the_copy_is_the_memory_of_the_stopped_process():
    need_bits()
    count = sum(compare(storms, 2, 4) for storms in STORMS)
    count += compare(ALL_STORMS, 1, 4)
    check(count >= 9, f"only {count} comparisons")


@test
def the_copy_is_the_memory_on_a_kernel_without_pagemap_scan():
    need_bits()
    count = sum(compare(storms, 1, 4, "-o") for storms in STORMS)
    check(count >= 4, f"only {count} comparisons")


@test
def most_pages_of_a_quiet_process_are_not_copied_again():
    need_bits()
    with Storm(32, "quiet") as target:
        _, (once,) = tool(target.pid, "-s")
        equal(once["result"], 0, f"copy ({once['reason']})")
        check(once["late"] * 10 < once["pages"], f"copied in the pause: {once}")


@test
def a_wrong_copy_is_detected():
    need_bits()
    with Storm(16, "write") as target:
        _, results = tool(target.pid, "-s", "-e", 1, "-n", 3)
        check(any(r["different"] > 0 for r in results), f"not detected: {results}")


@test
def the_bits_alone_do_not_show_that_memory_was_moved():
    need_bits()
    with Storm(4, "exchange") as target:
        # only an exchange while a copy is made shows in it
        for _ in range(25):
            _, results = tool(target.pid, "-s", "-e", 3, "-n", 8)
            if any(r["different"] > 0 for r in results):
                return
        raise AssertionError(f"not detected: {results}")


@test
def memstate_is_killed_at_each_step():
    need_bits()
    with Storm(8, "quiet") as target:
        before = facts(target.pid)
        _, (once,) = tool(target.pid, "-s")
        equal(once["result"], 0, f"copy ({once['reason']})")
        equal(once["steps"], ["registered", "round", "round", "stopped", "copied", "released",
                              "unregistered"], "steps: nothing is injected")
        for step in range(1, len(once["steps"]) + 1):
            status, _ = tool(target.pid, "-s", "-k", step)
            equal(status, -signal.SIGKILL, f"status after step {step}")
            wait_until(lambda: status_field(target.pid, "TracerPid") == "0", "released")
            check_unharmed(target, before)


# A filter that kills the process if it, or a borrowed thread of it, calls userfaultfd(2).
SECCOMP = PREPARE + """
libc.prctl(38, 1, 0, 0, 0)
code = ctypes.create_string_buffer(
    struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, 323)
    + struct.pack("HBBI", 6, 0, 0, 0x80000000) + struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
libc.prctl(22, 2, program) == 0 or failed("seccomp")
os.execv(sys.argv[1], sys.argv[1:])
"""


@test
def the_memory_of_a_process_under_seccomp_is_copied():
    need_bits()
    with Storm(4, "write", prefix=(sys.executable, "-c", SECCOMP)) as target:
        equal(status_field(target.pid, "Seccomp"), "2", "mode of seccomp")
        _, results = tool(target.pid, "-s", "-n", 3)
        check(any(r["result"] == 0 for r in results), f"copies: {results}")
        for r in results:
            equal((r["missing"], r["different"], r["surplus"]), (0, 0, 0), f"wrong pages: {r}")
        equal(target.process.poll(), None, "exit status")


def read_big(target):
    """Read a big heap; an emulated machine may be too slow."""
    for _ in range(TRIES):
        report, said = heap_json(target.pid, LIMIT, SOFT)
        if report:
            return report
        check("took longer than --max-pause" in said, said)
    raise Skip("the machine is too slow")


@test
def the_heap_of_a_process_under_seccomp_is_read():
    need_bits()
    with Storm(BIG, "quiet", prefix=(sys.executable, "-c", SECCOMP)) as target:
        before = facts(target.pid)
        report, said = heap_json(target.pid, LIMIT)
        equal(report, None, "the report with --pre-copy auto")
        check("seccomp" in said, said)
        set_count, clear_count = count_bits(target.pid)
        equal(clear_count, 0, "cleared bits without --pre-copy soft-dirty")
        report = read_big(target)
        check(report["pre_copy"], "a plain pause")
        equal(report["pre_copy"]["rounds"], 1, "rounds")
        check(report["pre_copy"]["late_bytes"] * 10 < report["pre_copy"]["copied_bytes"],
              f"copied in the pause: {report['pre_copy']}")
        check(count_bits(target.pid)[1] > set_count * 0.9, "the bits were not cleared")
        check_unharmed(target, before)
        plain, said = heap_json(target.pid, "--pre-copy=off", "--max-pause=60s")
        check(plain, said)
        equal(plain["pre_copy"], None, "a plain pause")
        equal(figures(report), figures(plain), "figures")


def refused(target, expected, **popen):
    """Check that memstate refuses, and leaves all bits."""
    before, bits = facts(target.pid), count_bits(target.pid)
    report, said = heap_json(target.pid, SMALL_LIMIT, SOFT, **popen)
    equal(report, None, "the report")
    check("would be paused for about" in said and expected in said, said)
    equal(count_bits(target.pid), bits, "bits")
    check_unharmed(target, before)


OPEN = """
import os, sys
os.set_inheritable(os.open(f"/proc/self/{sys.argv.pop(1)}", os.O_WRONLY), True)
os.execv(sys.argv[1], sys.argv[1:])
"""


@test
def a_process_that_may_use_the_bits_is_refused():
    need_bits()
    for name in ("clear_refs", "pagemap"):
        source = OPEN.replace("O_WRONLY", "O_RDONLY") if name == "pagemap" else OPEN
        with Storm(SMALL, "quiet", prefix=(sys.executable, "-c", source, name)) as target:
            refused(target, "has opened clear_refs or pagemap")


@test
def a_process_with_the_boehm_collector_is_refused():
    need_bits()
    library = re.search(rb"/\S*/libc\.so\.6$", read_proc("self", "maps"), re.M)[0]
    with tempfile.TemporaryDirectory() as folder:
        collector = os.path.join(folder, "libgc.so.1")
        shutil.copy(library, collector)
        with Storm(SMALL, "quiet", env={**os.environ, "LD_PRELOAD": collector}) as target:
            check(b"/libgc.so.1" in read_proc(target.pid, "maps"), "the library is not mapped")
            refused(target, "libgc")


@test
def a_second_memstate_is_refused():
    need_bits()
    with Storm(SMALL, "quiet") as target, open(f"/proc/{target.pid}/clear_refs", "wb") as clear:
        fcntl.flock(clear, fcntl.LOCK_EX)
        refused(target, "another memstate uses its soft-dirty bits")


@test
def an_ordinary_user_is_refused():
    need_bits()
    popen = {"user": 65534, "group": 65534, "extra_groups": []}
    with Storm(SMALL, "quiet", **popen) as target:
        refused(target, "CAP_SYS_ADMIN", **popen)


@test
def a_process_that_writes_too_fast_is_given_up():
    need_bits()
    with Storm(SMALL, "write-always") as target:
        report, said = heap_json(target.pid, SMALL_LIMIT, SOFT)
        check(report or "writes faster than its memory can be copied" in said or
              "took longer than --max-pause" in said, said)


@test
def bits_that_others_clear_meanwhile_are_noticed():
    need_bits()
    results = []
    with Storm(16, "write-10k") as target:
        thread = threading.Thread(target=lambda: results.extend(tool(target.pid, "-s", "-n", 5)[1]))
        thread.start()
        while thread.is_alive():
            with open(f"/proc/{target.pid}/clear_refs", "w") as f:
                f.write("4")
            time.sleep(0.05)
        thread.join()
    check(any(r["result"] == -errno.ESTALE for r in results), f"not noticed: {results}")


@test
def memstate_itself_is_killed_at_any_time():
    need_bits()
    with Storm(SMALL, "quiet") as target:
        before = facts(target.pid)
        for ms in range(100, 4000, 350):
            with subprocess.Popen([MEMSTATE, "heap", "-p", str(target.pid), SMALL_LIMIT, SOFT],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(ms / 1000)
                process.kill()
            wait_until(lambda: status_field(target.pid, "TracerPid") == "0", f"released after {ms} ms")
            check_unharmed(target, before)


run()
