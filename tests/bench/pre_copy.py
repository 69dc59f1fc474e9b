# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the pauses of 'memstate heap': the least of several, interleaved. The first table
is about copies in rounds, by size, page size and write rate; the second one about plain
pauses, by what the memory consists of. Arguments: sizes in MiB. In the environment: TRIES,
STORMS and HEAPS, the rows of the tables, and BEFORE, another memstate for comparison."""

import json
import os
import subprocess
import sys

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
MEMSTATE = os.environ["MEMSTATE"]
BEFORE = os.environ.get("BEFORE")
TRIES = int(os.environ.get("TRIES", 5))
STORMS = os.environ.get("STORMS", "write-none write-10k write-100k write-400k write-always "
                        "quiet-huge write-huge-10k").split()
# small blocks in arenas, small ones most of which are free, blocks of 16 KB in arenas, memory
# outside of malloc, and large blocks with their own mappings
HEAPS = os.environ.get("HEAPS", "quiet mostly-freed large-blocks mapped blocks").split()
PLAIN = ("--max-pause=60s", "--pre-copy=off")
LATE_MIN = 500  # with fewer pages, noise hides their cost


class Target:
    def __init__(self, size, kind):
        program, kind = ("mapped_target", "plain") if kind == "blocks" else ("storm_target", kind)
        self.process = subprocess.Popen([os.path.join(FOLDER, program), str(size), kind],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        while self.process.stdout.readline() not in (b"ready\n", b""):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()


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


def pause_ms(result):
    return result[0]["pause_s"] * 1000


def cpu_s(result):
    return result[2]


def own_mib(result):
    return result[3]


def copied_mib(result):
    return result[0]["copied_bytes"] / (1 << 20)


def show(value, scale=1, digits=1):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def late_pages(result):
    return result[0]["pre_copy"]["late_bytes"] / 4096


def cost_per_page_us(best, idle):
    """Return by how much each page that is copied in it prolongs the pause."""
    if not best or not idle or late_pages(best) - late_pages(idle) < LATE_MIN:
        return None
    more_us = (pause_ms(best) - pause_ms(idle)) * 1000
    return more_us / (late_pages(best) - late_pages(idle))


def measure_rounds(size, storm, idle):
    """Return the shortest pause of a process that does not write: `idle`, or this one."""
    # a limit between the two estimates: 400 ms per GiB, and 20 ms per GiB with pre-copy
    limit = f"--max-pause={int(size / 1024 * 390)}ms"
    early, plain, before = [], [], []
    with Target(size, storm) as target:
        for _ in range(TRIES):
            early.append(heap(MEMSTATE, target.pid, limit, "--pre-copy=huge"))
            plain.append(heap(MEMSTATE, target.pid, *PLAIN))
            if BEFORE:
                before.append(heap(BEFORE, target.pid, "--max-pause=60s"))
    done = [r for r in early if r[0] and r[0]["pre_copy"]]
    best = min(done, key=pause_ms, default=None)
    report = best[0]["pre_copy"] if best else {}
    print(f"{size:6} {storm:15} {show(least(before, pause_ms)):>8} {show(least(plain, pause_ms)):>8} "
          f"{show(best and pause_ms(best)):>8} {show(best and pause_ms(best), 1024 / size):>7} "
          f"{len(done)}/{len(early)} {report.get('rounds', '-'):>3} "
          f"{show(best and late_pages(best), 1, 0):>7} {show(cost_per_page_us(best, idle)):>7} "
          f"{show(report.get('split_bytes'), 1 / (1 << 20), 0):>6} "
          f"{show(least(plain, cpu_s), 1, 2):>7} {show(best and cpu_s(best), 1, 2):>7} "
          f"{show(least(plain, own_mib), 1, 0):>6} {show(best and own_mib(best), 1, 0):>6}", flush=True)
    if not done:
        print(f"       {early[0][1]}")
    return best if storm == "write-none" else idle


def measure_plain(size, kind):
    now, before = [], []
    with Target(size, kind) as target:
        for _ in range(TRIES):
            now.append(heap(MEMSTATE, target.pid, *PLAIN))
            if BEFORE:
                before.append(heap(BEFORE, target.pid, "--max-pause=60s"))
    new, old = least(now, pause_ms), least(before, pause_ms)
    print(f"{size:6} {kind:15} {show(old):>8} {show(new):>8} {show(new, 1024 / size):>7} "
          f"{show(old / new if old and new else None):>6} {show(least(now, copied_mib), 1, 0):>7} "
          f"{show(least(before, cpu_s), 1, 2):>7} {show(least(now, cpu_s), 1, 2):>7} "
          f"{show(least(before, own_mib), 1, 0):>6} {show(least(now, own_mib), 1, 0):>6}", flush=True)


print(f"load {os.getloadavg()[0]:.1f}; pauses in ms, the least of {TRIES}")
print("   MiB memory            before    plain pre-copy  ms/GiB   n rnd    late us/page  split"
      "   CPU s          MiB own")
for mib in sys.argv[1:]:
    idle_result = None
    for name in STORMS:
        idle_result = measure_rounds(int(mib), name, idle_result)
print("   MiB plain pause       before      now  ms/GiB  ratio  copied   CPU s          MiB own")
for mib in sys.argv[1:]:
    for name in HEAPS:
        measure_plain(int(mib), name)
