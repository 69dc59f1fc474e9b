# SPDX-License-Identifier: GPL-2.0-or-later
"""Inject and remove the counting probe COUNT times each ("make stress-count-attach
COUNT=n"; not part of "make check"): in processes that allocate constantly, processes that
wait, and a server under load; then kill memstate at each step.

Prints the number of cycles and how long one thread, and all threads, were stopped. Stops
at the first error.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

# pylint: disable=wrong-import-position
from count_inject_lib import (CountTarget, check_same_but_gates, kill_at, put_in_and_out, tool)
from inject_lib import KINDS, InjectTarget, KillTarget, file_maps
from live import Skip, check, equal, wait_until

BATCH = 25


class Costs:
    """Times of injections and pauses in ns, and the outcomes."""

    def __init__(self, what):
        self.what, self.start = what, time.monotonic()
        self.stopped, self.paused = [], []
        self.done = self.refused = self.left = 0

    def add(self, cycle):
        check(-cycle["open"] in (0, errno.EAGAIN), f"{cycle}")
        if cycle["open"] != 0:
            self.refused += 1
            return
        check(-cycle["close"] in (0, errno.EAGAIN, errno.EBUSY), f"{cycle}")
        self.left += cycle["close"] != 0
        self.done += 1
        self.stopped.append(cycle["open_stopped_ns"])
        self.paused.append(cycle["open_paused_ns"])

    def say(self):
        def quantiles(values):
            values = sorted(values)
            return " / ".join(f"{values[int(len(values) * q)] / 1e6:.2f}" for q in (0.5, 0.99))

        print(f"{self.what}: {self.done} cycles in {time.monotonic() - self.start:.0f} s, {self.refused} without a safe "
              f"moment, {self.left} left to the next", flush=True)
        if self.done:
            print(f"    injection, p50 / p99 ms: one thread stopped {quantiles(self.stopped)}, all of them "
                  f"{quantiles(self.paused)}", flush=True)


def cycles_in(costs, pid, count):
    while costs.done < count:
        for cycle in tool(pid, "-n", min(BATCH, count - costs.done)):
            costs.add(cycle)


def stress(what, behaviour, argument, count):
    costs = Costs(what)
    with InjectTarget(behaviour, argument) as target:
        put_in_and_out(target.pid)
        before = check_same_but_gates(target.pid, maps_of=file_maps)
        cycles_in(costs, target.pid, count)
        put_in_and_out(target.pid)
        if behaviour != "still":
            target.check_goes_on()
        target.check_whole()
        check_same_but_gates(target.pid, before, file_maps)
    costs.say()


def sweep(times):
    start, killed = time.monotonic(), 0
    for _ in range(times):
        for kind in KINDS:
            with KillTarget(*kind) as target:
                count = len(put_in_and_out(target.pid)[0]["steps"])
            for step in range(1, count + 1):
                with KillTarget(*kind) as target:
                    killed += kill_at(target.pid, step)
                    target.check_as_before()
                    put_in_and_out(target.pid)
                    target.check_as_before()
        with CountTarget(4) as target:
            for step in range(1, len(put_in_and_out(target.pid)[0]["steps"]) + 1):
                killed += kill_at(target.pid, step)
                target.order(b"w")
                put_in_and_out(target.pid)
                target.order(b"w")
    print(f"killed {killed} times in {time.monotonic() - start:.0f} s: all survived", flush=True)


def redis(count):
    """Inject into a server under load, all of whose answers must be right."""
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        raise Skip("redis is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", ""], cwd=folder,
                              stdout=subprocess.DEVNULL) as server:
            try:
                wait_until(lambda: os.path.exists(path), "the server listens")
                load(server, path, count)
            finally:
                server.send_signal(signal.SIGTERM)


def load(server, path, count):
    costs = Costs("redis-server under redis-benchmark")
    command = ["redis-benchmark", "-s", path, "-t", "set,get", "-n", "2000000", "-c", "8", "-P", "4", "-q", "--csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as client:
        cycles_in(costs, server.pid, count)
        client.terminate()
        out, err = client.communicate()
    check("error" not in (out + err).lower(), f"{out} {err}")
    equal(server.poll(), None, "exit status of the server")
    costs.say()


def main():
    count = int(sys.argv[1])
    stress("16 threads that allocate", "churn", 16, count)
    stress("one thread that allocates", "churn", 1, count)
    stress("16 threads that wait", "still", 16, count)
    try:
        redis(count)
    except Skip as skip:
        print(f"skipped: {skip}")
    sweep(max(1, count // 1000))


main()
