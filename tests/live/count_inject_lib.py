# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers shared by the tests of the injected counting probe."""

import errno
import json
import os
import signal
import subprocess
import sys

from inject_lib import FOLDER, check_same, end_tool, facts, maps
from live import check, equal, read_said

TOOL = os.path.join(FOLDER, "count_inject_tool")
TARGET = os.path.join(FOLDER, "count_attach_target")
PLUGIN = os.path.join(FOLDER, "count_plugin.so")
FUNCTIONS = ("malloc", "free", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc",
             "memalign", "valloc", "pvalloc", "new", "delete")


if not os.path.exists(os.path.join(os.environ["builddir"], "src", "agent", "count_hooks.bin")):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


class CountTarget:
    """tests/targets/count_attach_target."""

    def __init__(self, threads=0, command=(TARGET,), **popen):
        self.process = subprocess.Popen([*command, str(threads), PLUGIN], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                                        **popen)
        try:
            self.pid = self.read_until(b"ready")["pid"]
        except BaseException:
            self.end()
            raise

    def read_until(self, word):
        return read_said(self.process, iter(self.process.stdout.readline, b""), word)

    def order(self, letter):
        self.process.stdin.write(letter)
        return self.read_until(b"ready" if letter == b"x" else b"done")

    def check_whole(self):
        equal(self.process.poll(), None, "exit status")

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()


class Counting:
    """The tool with its probe in a process, until end() or kill()."""

    def __init__(self, pid, *args, command=(TOOL,)):
        self.process = subprocess.Popen([*command, "-w", "1", *map(str, args), str(pid)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if line != b"held\n":
            self.end()
            raise AssertionError(f"the probe was not injected: {line}")

    def read(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        counts = json.loads(self.process.stdout.readline())
        equal((counts["read"], counts.get("stacks_read", 0)), (0, 0), "reading")
        return counts

    def end(self):
        """Take the probe out and return the tool's report of the cycle."""
        cycles = end_tool(self.process)[1]
        return cycles[-1] if cycles else None

    def kill(self):
        self.process.kill()
        end_tool(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.kill()


def start_tool(pid, *args, command=(TOOL,), **popen):
    return subprocess.Popen([*command, *[str(a) for a in args], str(pid)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)


def tool(pid, *args, **popen):
    status, cycles = end_tool(start_tool(pid, *args, **popen))
    equal(status, 0, "status of the tool")
    return cycles


def was_put_in(cycle):
    for key in ("open", "close"):
        equal(cycle.get(key), 0, f"{key} ({cycle.get(f'{key}_reason')})")


def put_in_and_out(pid, *args):
    """Inject and remove the probe at least once. Retry if a busy machine offered no safe
    moment in time."""
    for _ in range(5):
        cycles = tool(pid, *args)
        if all(-errno.EAGAIN not in (cycle["open"], cycle.get("close")) for cycle in cycles):
            break
    for cycle in cycles:
        was_put_in(cycle)
    return cycles


def is_refused(pid, *wanted, **popen):
    """Check that injection is refused and nothing was changed; return the reason."""
    cycle = tool(pid, **popen)[0]
    check(-cycle["open"] in wanted, f"open: {cycle}")
    check(cycle["open_reason"], "no reason is given")
    check(set(cycle["steps"]) <= {"open: seize", "open: interrupt"}, f"steps: {cycle}")
    return cycle["open_reason"]


GATES = 4096  # bytes: see src/agent/count/hooks.h


def is_gates(line):
    start, end = (int(addr, 16) for addr in line.split()[0].split(b"-"))
    return b" r-xp " in line and len(line.split()) == 5 and end - start == GATES


def check_same_but_gates(pid, before=None, maps_of=maps):
    """Check that nothing has changed except one page of jumps, which stays however
    often counting runs."""
    found = facts(pid, maps_of)
    gates = [line for line in found["maps"] if is_gates(line)]
    check(len(gates) <= 1, f"gates: {gates}")
    found["maps"] = [line for line in found["maps"] if line not in gates]
    for key, status in found.items():
        if key.startswith("status of"):
            found[key] = [line for line in status if not line.startswith((b"VmSize", b"VmExe", b"VmLib"))]
    if before:
        check_same(before, found)
    return found


def difference(before, after):
    """Return the non-zero differences of two readings: calls of each
    function, and bytes."""
    return {key: after[key] - before[key] for key in (*FUNCTIONS, "bytes") if after[key] != before[key]}


def threads_of(counts):
    return {thread["tid"]: thread for thread in counts["threads"]}


def kill_at(pid, step):
    """Kill the tool at this step; return False if the step was not reached."""
    status, _ = end_tool(start_tool(pid, "-k", step))
    return status == -signal.SIGKILL


def some_of(steps):
    """Return the numbers of a cycle's steps; of a repeated step only the first two
    and the last."""
    return [number for number, name in enumerate(steps, 1)
            if not steps[:number - 1][-2:] == steps[number:][:1] * 2 == [name] * 2]
