#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter on a generated /proc tree with thousands of processes: the sums, the ages,
the CPU budget, and no growth of its memory over many looks.

    exporter_many.py [PROCESSES [GROUPS [LOOKS]]]
"""

import contextlib
import os
import random
import shutil
import sys
import tempfile
import time

from exporter_lib import add_up, parse
from live import (KIB, PAGE, TIMEOUT, Skip, check, equal, has_address_sanitizer, run,
                  start_memstate, test)

ARGS = [int(arg) for arg in sys.argv[1:]]
PROCESSES, GROUPS, LOOKS = (ARGS + [2000, 100, 100][len(ARGS):])[:3]
CHANGES = 20  # processes that grow, end and begin between two looks
RESIDENT = "memstate_group_resident_bytes"
KINDS = ["Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "LazyFree"]


class Tree:
    """A folder like /proc. `rss` has the Rss of each process in KiB, `group` its command."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "proc")
        self.rss, self.group, self.ticks = {}, {}, {}
        self.random = random.Random(1)
        self.next_pid = 100
        os.mkdir(self.folder)
        self.put("version", "Linux version 6.12.0\n")
        self.put("stat", "btime 1700000000\n")
        self.put("uptime", "500000.00 500000.00\n")
        self.put("meminfo", "MemTotal: 263000000 kB\nMemFree: 100000000 kB\n")

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def write(self, pid):
        """Write the files of the process."""
        comm, kib = self.group[pid], self.rss[pid]
        pages = kib * KIB // PAGE
        # the number of page faults grows with Rss
        self.put(f"{pid}/stat", f"{pid} ({comm}) S 1 {pid} {pid} 0 -1 4194304 {pages} 0 0 0 1 1 0 0 20 0 1 0 "
                 f"{self.ticks[pid]} {64 * kib * KIB} {pages} 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 "
                 "0 0 0 0 0 0 1 1 1 1 1 1 1 0\n")
        self.put(f"{pid}/statm", f"{64 * pages} {pages} 0 1 0 {pages} 0\n")
        states = [0, 0, kib // 4, kib - kib // 4, kib // 8]
        fields = {"Rss": kib, "Pss": kib, **dict(zip(KINDS, states)), "Anonymous": kib, "Swap": 0}
        lines = "".join(f"{key + ':':<16}{value:8} kB\n" for key, value in fields.items())
        self.put(f"{pid}/smaps_rollup", "00400000-7fff00000000 ---p 00000000 00:00 0 [rollup]\n" + lines)

    def add(self, comm):
        pid = self.next_pid
        self.next_pid += 1
        self.rss[pid] = 4 * self.random.randrange(1, 20000)
        self.group[pid], self.ticks[pid] = comm, pid
        os.mkdir(os.path.join(self.folder, str(pid)))
        self.put(f"{pid}/comm", comm + "\n")
        self.write(pid)
        return pid

    def remove(self, pid):
        shutil.rmtree(os.path.join(self.folder, str(pid)))
        for table in (self.rss, self.group, self.ticks):
            del table[pid]

    def grow(self, pid):
        self.rss[pid] += 4 * self.random.randrange(1, 1000)
        self.write(pid)

    def sums(self):
        """Return the Rss of each group in bytes."""
        sums = {}
        for pid, kib in self.rss.items():
            sums[self.group[pid]] = sums.get(self.group[pid], 0) + kib * KIB
        return sums


def private_bytes(pid):
    """Return the anonymous memory of a process, which excludes pages of programs and libraries."""
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return sum(int(line.split()[1]) * KIB for line in f if line.startswith("Anonymous:"))


def cpu_seconds(pid):
    return time.clock_gettime((~pid << 3) | 2)


@contextlib.contextmanager
def tree_of(processes, groups):
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as at:
        tree = Tree(at)
        for i in range(processes):
            tree.add(f"group{i % groups}")
        yield tree


class Looks:
    """A running exporter that writes a file at each look."""

    def __init__(self, tree, *args):
        self.path = os.path.join(os.path.dirname(tree.folder), "metrics")
        self.process = start_memstate("exporter", "--procfs", tree.folder, "--group-by", "comm",
                                      "--textfile", self.path, *args)
        self.mark = None  # identifies the last file that was read

    def next(self):
        """Wait for a look. Return its samples, or None if the exporter has ended."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            # look at the process first, so that its last file is not missed
            has_ended = self.process.poll() is not None
            with contextlib.suppress(FileNotFoundError), open(self.path) as f:
                # a new file may have the inode of one that was removed
                mark = (os.fstat(f.fileno()).st_ino, os.fstat(f.fileno()).st_mtime_ns)
                if mark != self.mark:
                    self.mark = mark
                    return f.read()
            if has_ended:
                return None
            time.sleep(0.001)
        raise AssertionError("no look")


@test
def all_processes_are_in_the_sums_and_every_group_has_an_age():
    with tree_of(PROCESSES, GROUPS) as tree:
        looks = Looks(tree, "--top", str(GROUPS), "--max-series", "100000", "-n", "40", "-i", "10ms",
                      "--max-cpu", "100%")
        begin = time.monotonic()
        while (text := looks.next()) is not None:
            samples, elapsed = parse(text), time.monotonic() - begin
        equal(looks.process.returncode, 0, "exit status")
        sums = {name: add_up(samples, RESIDENT, group=name) for name in tree.sums()}
        equal(sums, tree.sums(), "resident")
        equal(add_up(samples, "memstate_group_processes"), PROCESSES, "processes")
        ages = {dict(labels)["group"]: age for (at, labels), age in samples.items()
                if at == "memstate_group_age_seconds" and ("group", "(rest)") not in labels}
        equal(set(ages), set(tree.sums()), "groups with an age")
        check(all(0 <= age <= elapsed + 1 for age in ages.values()), f"{max(ages.values())} in {elapsed} s")
        # a look reads only a few of the idle processes again
        check(max(ages.values()) > 0, "some figures are older than the last look")
        print(f"{PROCESSES} processes: oldest figure {max(ages.values()):.2f} s after {elapsed:.2f} s")


@test
def the_budget_holds():
    """The CPU time that the kernel measures stays below --max-cpu after the first looks."""
    with tree_of(PROCESSES, GROUPS) as tree:
        looks = Looks(tree, "-i", "10ms", "--max-cpu", "5%", "-n", "1000000")
        check(looks.next() is not None, "a first look")
        pid = looks.process.pid
        # the pause after a look depends on the CPU time of that look
        check(looks.next() is not None, "a second look")
        begin, cpu, count = time.monotonic(), cpu_seconds(pid), 0
        while count < 3 or time.monotonic() - begin < 5:
            check(looks.next() is not None, "the exporter runs")
            elapsed, used = time.monotonic() - begin, cpu_seconds(pid) - cpu
            count += 1
        check(used <= 0.06 * elapsed, f"{used:.3f} s of CPU in {elapsed:.3f} s")
        print(f"{PROCESSES} processes: {used / count * 1000:.1f} ms of CPU per look, "
              f"{used / elapsed * 100:.1f} % of one CPU with --max-cpu 5%")


@test
def memory_does_not_grow_while_processes_and_groups_come_and_go():
    if has_address_sanitizer():
        raise Skip("AddressSanitizer keeps freed memory")
    with tree_of(PROCESSES, GROUPS) as tree:
        looks = Looks(tree, "-i", "1ms", "--max-cpu", "100%", "-n", str(LOOKS))
        pid, seen, figures, pids = looks.process.pid, 0, [], sorted(tree.rss)
        while (text := looks.next()) is not None:
            seen += 1
            with contextlib.suppress(OSError, ProcessLookupError):
                figures.append((private_bytes(pid), cpu_seconds(pid)))
            for i in range(CHANGES):
                tree.grow(pids[tree.random.randrange(len(pids))])
            for pid_gone in [p for p in tree.rss if tree.group[p].startswith("brief")]:
                tree.remove(pid_gone)
            for i in range(CHANGES):
                tree.add(f"brief{seen}.{i}")
        equal(looks.process.returncode, 0, "exit status")
        check(seen >= LOOKS // 4, f"{seen} of {LOOKS} looks were seen")
        # buffers have their final size after some looks with more processes than the first
        middle = [figure for figure, _ in figures[len(figures) // 4:len(figures) // 2]]
        last = [figure for figure, _ in figures[-len(figures) // 4:]]
        growth = max(last) - max(middle)
        check(growth <= 128 * KIB, f"grown by {growth} bytes from {max(middle)}")
        print(f"{PROCESSES} processes, {LOOKS} looks, {seen * CHANGES} processes came and went: "
              f"anonymous memory {max(middle) / KIB:.0f} KiB, growth {growth / KIB:.0f} KiB, "
              f"{figures[-1][1] / LOOKS * 1000:.1f} ms of CPU per look")


if __name__ == "__main__":
    run()
