# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the walks of a series whose copy is kept between the walks: the pause and
memstate's CPU time of the first walk and of each further one, by size and write rate.
Arguments: sizes in MiB. In the environment: INTERVAL in s, WALKS, STORMS."""

import csv
import os
import re
import subprocess
import sys

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
MEMSTATE = os.environ["MEMSTATE"]
INTERVAL = os.environ.get("INTERVAL", "10")
WALKS = int(os.environ.get("WALKS", 5))
STORMS = os.environ.get("STORMS", "write-none write-10k write-100k")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", "rb") as f:
        fields = f.read().rsplit(b")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mib(pid):
    with open(f"/proc/{pid}/status", "rb") as f:
        return int(re.search(rb"VmHWM:\s*(\d+)", f.read())[1]) / 1024


def measure(size, storm):
    # a limit between the two estimates: 400 ms per GiB, and 20 ms per GiB with pre-copy
    limit = f"{int(size / 1024 * 390)}ms"
    target = subprocess.Popen([os.path.join(FOLDER, "storm_target"), str(size), storm],
                              stdout=subprocess.PIPE)
    target.stdout.readline()
    series = subprocess.Popen([MEMSTATE, "--csv", "-i", f"{INTERVAL}s", "--heap", "walk",
                               "--max-share", "100%", "--max-pause", limit, "-p", str(target.pid),
                               "-o", "heap_pause_s,heap_problem"],
                              stdout=subprocess.PIPE, text=True)
    walks, before, last_pause = [], 0, None
    try:
        for row in csv.DictReader(series.stdout):
            now = cpu_s(series.pid)
            if row["heap_pause_s"] != last_pause:
                walks.append((float(row["heap_pause_s"]) * 1000, now - before, row["heap_problem"]))
                before, last_pause = now, row["heap_pause_s"]
            if len(walks) == WALKS:
                break
        peak = peak_mib(series.pid)
    finally:
        series.terminate()
        series.communicate()
        target.kill()
        target.wait()
    pauses = " ".join(f"{pause:6.1f}" for pause, _, _ in walks)
    cpu = " ".join(f"{used:5.2f}" for _, used, _ in walks)
    problems = " ".join(problem for _, _, problem in walks)
    print(f"{size:6} {storm:12} {pauses}   {cpu}   {peak:6.0f} {problems}", flush=True)


print(f"load {os.getloadavg()[0]:.1f}; interval {INTERVAL} s; {WALKS} walks")
print("   MiB memory       pauses in ms   CPU in s   own peak in MiB")
for mib in sys.argv[1:]:
    for name in STORMS.split():
        measure(int(mib), name)
