# SPDX-License-Identifier: GPL-2.0-or-later
"""Inject and remove the helper COUNT times each ("make stress-inject COUNT=n"; not part
of "make check"): in processes that allocate constantly, processes that wait, and servers
under load; then kill the tool at each step.

Prints the number of cycles and how long a thread was stopped. Stops at the first error.
"""

import collections
import concurrent.futures
import errno
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

# pylint: disable=wrong-import-position
from inject_lib import (KINDS, InjectTarget, KillTarget, check_same, facts, file_maps,
                        own_part, steps_of, tool, was_put_in)
from live import KIB, Skip, check, equal, is_in_state, read_proc, wait_until

BATCH = 25
PERTURBED = {**os.environ, "MALLOC_PERTURB_": "165"}


class Costs:
    """Times of stops in ns, and the outcomes."""

    def __init__(self, what):
        self.what, self.start = what, time.monotonic()
        self.opened, self.closed = [], []
        self.stops, self.outcomes, self.tries = 0, collections.Counter(), 0
        self.left = 0  # no safe moment to remove the helper: left to the next cycle

    def add(self, cycle):
        self.outcomes[cycle["open"]] += 1
        self.tries += cycle["open_tries"]
        self.stops += cycle["open_stops"]
        if cycle["open"] == 0 and cycle["close"] == -errno.EAGAIN:
            self.left += 1
        elif cycle["open"] == 0:
            was_put_in(cycle)
            self.opened.append(cycle["open_stopped_ns"])
            self.closed.append(cycle["close_stopped_ns"])
            self.stops += cycle["close_stops"]

    def say(self):
        def quantiles(values):
            values = sorted(values)
            return " / ".join(f"{values[int(len(values) * q)] / 1e6:.2f}" for q in (0.5, 0.99))

        done = self.outcomes[0]
        refused = sum(self.outcomes.values()) - done
        print(f"{self.what}: {done} cycles in {time.monotonic() - self.start:.0f} s, {self.tries} tries, "
              f"{refused} without a safe moment, {self.left} left to the next, {self.stops} stops",
              flush=True)
        if done:
            print(f"    stopped, p50 / p99 ms: injection {quantiles(self.opened)}, "
                  f"removal {quantiles(self.closed)}; "
                  f"{self.stops / (done + refused):.1f} stops a cycle", flush=True)


def cycles_in(costs, pid, count, *args):
    """Run this many cycles, then more until no helper remains in the process."""
    while count > 0:
        cycles = tool(pid, "-n", count, *args)
        for cycle in cycles:
            check(-cycle["open"] in (0, errno.EAGAIN), f"{cycle}")
            costs.add(cycle)
        count = 1 if cycles[-1].get("close") == -errno.EAGAIN else 0


def stress(what, behaviour, argument, count, **popen):
    costs = Costs(what)
    with InjectTarget(behaviour, argument, **popen) as target:
        before = facts(target.pid, file_maps)
        while costs.outcomes[0] < count:
            cycles_in(costs, target.pid, min(BATCH, count - costs.outcomes[0]))
            target.check_goes_on()
            check_same(before, facts(target.pid, file_maps))
    costs.say()


def stress_registers(stop_count):
    costs = Costs("registers")
    with InjectTarget("registers") as target:
        while costs.stops < stop_count:
            cycles_in(costs, target.pid, BATCH)
            target.check_goes_on()
        rounds = target.counters()[0]
    costs.say()
    print(f"    {rounds} times compared, each time the same", flush=True)


def sweep():
    """Kill the tool at each step, for each kind of target."""
    start, killed = time.monotonic(), 0
    for kind in KINDS:
        with KillTarget(*kind) as target:
            count = len(steps_of(target))
        most = 0
        for step in range(1, count + 1):
            with KillTarget(*kind) as target:
                target.kill_at(step)
                most = max(most, target.check_left_over())
            killed += 1
        print(f"killed at each of {count} steps, {' '.join(map(str, kind))}: all survived, at most "
              f"{most / KIB:.0f} KiB left over", flush=True)
    print(f"killed {killed} times in {time.monotonic() - start:.0f} s, {killed} survivors", flush=True)


def stop_at(step):
    """Stop the target at this step; it must stay stopped until it gets SIGCONT."""
    with KillTarget("spin", 0) as target:
        tool(target.pid, "-s", f"{step}:{int(signal.SIGSTOP)}")
        wait_until(lambda: is_in_state(target.pid, b"T"), "the target is stopped")
        os.kill(target.pid, signal.SIGCONT)
        target.check_as_before()
        target.check_left_over()


def stop_sweep():
    with KillTarget("spin", 0) as target:
        count = len(steps_of(target))
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(stop_at, range(1, count + 1)))
    print(f"stopped at each of {count} steps: all continued", flush=True)


# ---- servers under load ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def can_connect(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Load:
    """Send requests from several threads until end(); count requests and failures."""

    def __init__(self, request_once, count=4):
        self.done, self.failures, self.is_over = 0, [], False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(request_once,))
                        for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, request_once):
        while not self.is_over:
            try:
                count = request_once()
            except Exception as e:
                with self.lock:
                    self.failures.append(repr(e))
                return
            with self.lock:
                self.done += count

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        equal(self.failures, [], "requests that failed")
        check(self.done > 0, "no request was made")
        print(f"    {self.done} requests, 0 failed", flush=True)


def stress_server(what, command, port, pid_of, request_once, count):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: can_connect(port), f"{what} answers")
            pid, costs, load = pid_of(server.pid), Costs(f"{what} under load"), Load(request_once)
            before = facts(pid, file_maps)
            while costs.outcomes[0] < count:
                cycles_in(costs, pid, min(BATCH, count - costs.outcomes[0]))
            load.end()
            # open descriptors depend on the clients, and threads on the server
            now = facts(pid, file_maps)
            for key in ("maps", f"status of {pid}"):
                check_same({key: own_part(before[key])}, {key: own_part(now[key])})
            costs.say()
        finally:
            server.terminate()


NGINX = """
daemon off; worker_processes 1; error_log stderr crit; pid {folder}/pid;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/1; proxy_temp_path {folder}/2;
fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
server {{ listen 127.0.0.1:{port}; location / {{ return 200 "0123456789"; }} }} }}
"""


def stress_nginx(folder, count):
    program, port = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), free_port()
    if not program:
        raise Skip("nginx is not installed")
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w", encoding="ascii") as f:
        f.write(NGINX.format(folder=folder, port=port))

    def requests():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for _ in range(50):
            connection.request("GET", "/")
            reply = connection.getresponse()
            equal((reply.status, reply.read()), (200, b"0123456789"), "reply")
        connection.close()
        return 50

    def worker(pid):
        return int(read_proc(pid, f"task/{pid}/children").split()[0])

    stress_server("nginx", [program, "-c", config, "-p", folder], port, worker, requests, count)


def stress_redis(folder, count):
    program, client, port = shutil.which("redis-server"), shutil.which("redis-benchmark"), free_port()
    if not program or not client:
        raise Skip("redis-server or redis-benchmark is not installed")

    def requests():
        done = subprocess.run([client, "-p", str(port), "-n", "20000", "-c", "4", "-q", "-t", "set,get,lpush",
                               "-d", "300", "-r", "100000"], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        check(b"rror" not in done.stdout + done.stderr, done.stdout + done.stderr)
        return 60000

    stress_server("redis", [program, "--port", str(port), "--save", "", "--dir", folder], port,
                  lambda pid: pid, requests, count)


def part(function, *args):
    try:
        function(*args)
    except Skip as skip:
        print(f"{function.__name__}: skipped: {skip}", file=sys.stderr)


def main():
    count = int(sys.argv[1])
    part(sweep)
    part(stress, "one allocating thread, with pauses", "churn", "1:500", count)
    part(stress, "16 allocating threads, with pauses", "churn", "16:500", count)
    part(stop_sweep)
    with tempfile.TemporaryDirectory() as folder:
        part(stress_nginx, folder, count // 5)
        part(stress_redis, folder, count // 5)
    part(stress_registers, 10 * count)
    part(stress, "restartable sequences", "rseq", 3, count // 20)
    part(stress, "a process that forks", "forks", 4, count // 20)
    part(stress, "a process that starts programs", "vforks", 0, count // 20)
    part(stress, "16 constantly allocating threads", "churn", 16, count // 20)
    part(stress, "one constantly allocating thread", "churn", 1, count // 20)
    part(lambda: stress("4 threads, freed memory overwritten", "churn", 4, count // 20, env=PERTURBED))


main()
