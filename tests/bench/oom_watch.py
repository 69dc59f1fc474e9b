# SPDX-License-Identifier: GPL-2.0-or-later
"""Cost of the flight recorder of a cgroup ("make bench-oom"; not part of "make check").

Measures a cgroup of 20 processes that grow and shrink by some MiB, recorded every 10 ms
and every second; a shell loop that reads the same files; the size of a recording of 24
hours; and the delay until victims are read.
"""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from live import KIB, MIB, Folder, read_proc, start_memstate, status_field  # pylint: disable=wrong-import-position
from oom_lib import Group  # pylint: disable=wrong-import-position

SECONDS = 5 if os.environ.get("QUICK") else 20
KILLS = 3 if os.environ.get("QUICK") else 20
PROCESSES = 20
DAY = 86400
# 4 MiB permanently, and up to 4 MiB more that are replaced five times a second
PROGRAM = ("import random, time\nkept = bytearray(4 << 20)\nwhile True:\n"
           "    b = bytearray(random.randrange(1 << 16, 4 << 20))\n    time.sleep(0.2)\n")


class Busy:
    """Processes with changing memory in a cgroup."""

    def __init__(self, group):
        self.processes = [subprocess.Popen([sys.executable, "-I", "-c", PROGRAM],
                                           preexec_fn=group.enter)
                          for _ in range(PROCESSES)]
        time.sleep(2)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for process in self.processes:
            process.kill()
            process.wait()


def cpu_s(pid):
    return int(read_proc(pid, "schedstat").split()[0]) / 1e9


def share(pid, seconds):
    """Return the process's share of a CPU in percent."""
    begin_cpu, begin = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu_s(pid) - begin_cpu) / (time.monotonic() - begin)


def start(group, path, *args):
    process = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", path, *args,
                             stderr=subprocess.DEVNULL)
    process.stdout.readline()
    return process


def end(process):
    process.send_signal(signal.SIGTERM)
    return process.communicate()[0].decode()


def measure_share(group, path, interval):
    process = start(group, path, "-i", interval)
    time.sleep(1)
    cost = share(process.pid, SECONDS)
    rss = int(status_field(process.pid, "VmRSS").split()[0]) * KIB
    peak = int(status_field(process.pid, "VmHWM").split()[0]) * KIB
    end(process)
    print(f"recorded every {interval}: {cost:.2f} % of a CPU, Rss {rss / MIB:.1f} MiB (peak {peak / MIB:.1f})")


# Read the same files of the cgroup and the totals of each process, without interpreting
# or storing them.
LOOP = """cd "$1"; while :; do
    cat memory.stat $2 cgroup.procs
    for pid in $(cat cgroup.procs); do cat /proc/$pid/smaps_rollup; done
    sleep 0.01
done >/dev/null 2>&1"""


def measure_loop(group):
    usage = "memory.usage_in_bytes" if group.version == 1 else "memory.current"
    loop = subprocess.Popen(["sh", "-c", LOOP, "sh", group.dir, usage], start_new_session=True)
    begin = os.times()
    start_s = time.monotonic()
    time.sleep(SECONDS)
    passed = time.monotonic() - start_s
    os.killpg(loop.pid, signal.SIGKILL)
    loop.wait()
    now = os.times()
    spent = now.children_user + now.children_system - begin.children_user - begin.children_system
    print(f"a loop of cat with sleep 0.01: {100 * spent / passed:.0f} % of a CPU")


def measure_day(group, path):
    """At 50 ms a sample may read as much of the processes as at 1 s, and as much of the
    cgroup has changed."""
    sizes = []
    for count in (200, 200 + SECONDS * 20):
        if os.path.exists(path):
            os.unlink(path)
        start(group, path, "-i", "50ms", "-n", count).communicate()
        sizes.append((count, os.path.getsize(path)))
    (few, small), (many, large) = sizes
    each = (large - small) / (many - few)
    print(f"{each:.0f} bytes per sample: 24 hours at 1 s {each * DAY / MIB:.0f} MiB; "
          f"the first {few} samples {small / KIB:.0f} KiB")


def measure_kills(path):
    lates, ages = [], []
    for _ in range(KILLS):
        with Group(64 * MIB) as group:
            process = start(group, path)
            group.run("leak=256/5")
            time.sleep(0.5)
            said = [line for line in end(process).splitlines() if line.startswith("killed   ")]
            late = [line.split("was read ")[1].split(" after")[0] for line in said if "was read " in line]
            lates += late
            ages += [line.split("last sample was ")[1].split(" old")[0] for line in said if "last sample" in line]
    print(f"of {KILLS} leaks of 50 MiB/s in 64 MiB, {len(lates)} victims were read at their end: {', '.join(lates)} "
          f"after they were chosen; the last sample before: {', '.join(ages)} old")


def main():
    with Folder() as folder, Group(1024 * MIB) as group:
        with Busy(group):
            for interval in ("10ms", "1s"):
                measure_share(group, f"{folder}/{interval}", interval)
            measure_loop(group)
            measure_day(group, f"{folder}/day")
        measure_kills(f"{folder}/kills")


main()
