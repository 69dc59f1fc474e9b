# SPDX-License-Identifier: GPL-2.0-or-later
"""A generated folder like /proc with many processes, and an exporter that reads it."""

import contextlib
import os
import random
import shutil
import tempfile
import time

from live import KIB, PAGE, TIMEOUT, start_memstate

KINDS = ["Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "LazyFree"]


def mapping(place, rest, kib):
    """Return the record of a mapping of 256 MiB in smaps."""
    begin = 0x10000000 * (1 + place)
    fields = {"Size": 262144, "Rss": 0, "Pss": kib.get("Rss", 0), **{kind: 0 for kind in KINDS}, "Anonymous": 0,
              "Swap": 0, **kib}
    lines = "".join(f"{key + ':':<16}{value:8} kB\n" for key, value in fields.items())
    return f"{begin:08x}-{begin + 0x10000000:08x} {rest}\n{lines}VmFlags: rd mr mw me\n"


class Tree:
    """A folder like /proc. `rss` has the Rss of each process in KiB, `group` its command."""

    def __init__(self, folder, mappings=0):
        self.folder = os.path.join(folder, "proc")
        self.mappings = mappings  # number of mappings in the smaps of each process; 0: no smaps
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

    def write(self, pid, has_new_smaps=True):
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
        if self.mappings and has_new_smaps:
            self.put(f"{pid}/smaps", self.smaps(kib))

    def smaps(self, kib):
        """Return smaps with the same sums as smaps_rollup, in one file and one anonymous mapping."""
        clean = kib // 4
        text = mapping(0, f"r-xp 00000000 08:01 {4711:<25} /usr/bin/prog", {"Rss": clean, "Private_Clean": clean})
        text += mapping(1, "rw-p 00000000 00:00 0", {"Rss": kib - clean, "Private_Dirty": kib - clean,
                                                     "LazyFree": kib // 8, "Anonymous": kib - clean})
        return text + "".join(mapping(i, "rw-p 00000000 00:00 0", {}) for i in range(2, self.mappings))

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
def tree_of(processes, groups, **options):
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as at:
        tree = Tree(at, **options)
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

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=TIMEOUT)
