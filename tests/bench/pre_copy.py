# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the pause of a copy in rounds by size, page size and write rate, and of a plain
pause in the same run: the least of several, interleaved. Arguments: sizes in MiB."""

import json
import os
import subprocess
import sys

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
MEMSTATE = os.environ["MEMSTATE"]
BEFORE = os.environ.get("BEFORE")  # another memstate, for comparison
TRIES = int(os.environ.get("TRIES", 5))
STORMS = os.environ.get("STORMS", "write-none write-10k write-100k write-always quiet-huge write-huge-10k")


def heap(memstate, pid, *args):
    """Return the report, the CPU time in s and the memory in MiB."""
    process = subprocess.Popen([memstate, "heap", "--json", "-p", str(pid), *args],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, said = process.stdout.read(), process.stderr.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    cpu = usage.ru_utime + usage.ru_stime
    return (json.loads(out) if out else None), said.decode().strip(), cpu, usage.ru_maxrss / 1024


def least(results, key):
    return min((key(r) for r in results if r[0]), default=None)


def show(value, scale=1, digits=1):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def measure(size, storm):
    # a limit between the two estimates: 400 ms per GiB, and 20 ms per GiB with pre-copy
    limit = f"--max-pause={int(size / 1024 * 390)}ms"
    target = subprocess.Popen([os.path.join(FOLDER, "storm_target"), str(size), storm],
                              stdout=subprocess.PIPE)
    target.stdout.readline()
    try:
        early, plain, before = [], [], []
        for _ in range(TRIES):
            early.append(heap(MEMSTATE, target.pid, limit, "--pre-copy=huge"))
            plain.append(heap(MEMSTATE, target.pid, "--max-pause=60s", "--pre-copy=off"))
            if BEFORE:
                before.append(heap(BEFORE, target.pid, "--max-pause=60s"))
    finally:
        target.kill()
        target.wait()
    done = [r for r in early if r[0] and r[0]["pre_copy"]]
    best = min(done, key=lambda r: r[0]["pause_s"], default=None)
    print(f"{size:6} {storm:15} "
          f"{show(least(before, lambda r: r[0]['pause_s']), 1000):>8} "
          f"{show(least(plain, lambda r: r[0]['pause_s']), 1000):>8} "
          f"{show(best and best[0]['pause_s'], 1000):>8} {len(done)}/{len(early)} "
          f"{best[0]['pre_copy']['rounds'] if best else '-':>3} "
          f"{show(best and best[0]['pre_copy']['late_bytes'] / 4096, 1, 0):>7} "
          f"{show(best and best[0]['pre_copy']['split_bytes'] / (1 << 20), 1, 0):>6} "
          f"{show(least(plain, lambda r: r[2]), 1, 2):>7} {show(best and best[2], 1, 2):>7} "
          f"{show(least(plain, lambda r: r[3]), 1, 0):>6} {show(best and best[3], 1, 0):>6}", flush=True)
    if not done:
        print(f"       {early[0][1]}")


print(f"load {os.getloadavg()[0]:.1f}; pauses in ms, the least of {TRIES}")
print("   MiB memory            before    plain pre-copy   n rnd    late  split   CPU s          MiB own")
for mib in sys.argv[1:]:
    for name in STORMS.split():
        measure(int(mib), name)
