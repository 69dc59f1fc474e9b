#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what heap reads cost the clients of a server: redis-server, a Go server and a
Java server, in turns alone, beside a memstate that reads the heap every second, and
right after that memstate has ended.

Usage: latency.py MEMSTATE [TURNS [SECONDS [MIB]]]

One client sends a request every millisecond, and measures from the time at which it was
due; then it sends requests one after the other. The figures are medians over the turns.
SERVERS in the environment selects servers.
"""

import csv
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP_S = 3
INTERVAL_NS = 1_000_000
COLUMNS = "heap_pause_s,heap_problem"


class Redis:
    """A server with a table of values of 1000 bytes."""
    programs = ["redis-server"]

    def __init__(self, mib, folder):
        path = os.path.join(folder, "redis.sock")
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder],
            stdout=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(1000):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.05)
        self.count, self.next = mib * 1024, 1
        for i in range(0, self.count, 1024):
            keys = range(i, i + 1024)
            self.socket.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$8\r\n%08d\r\n$1000\r\n%s\r\n" %
                                         (k, bytes(1000)) for k in keys))
            self.receive(len(keys) * len(b"+OK\r\n"))
        self.answer = len(b"$1000\r\n") + 1000 + len(b"\r\n")

    def receive(self, length):
        while length > 0:
            length -= len(self.socket.recv(min(length, 65536)))

    def ask(self):
        self.next = (self.next * 1103515245 + 12345) & 0x7fffffff
        self.socket.sendall(b"*2\r\n$3\r\nGET\r\n$8\r\n%08d\r\n" % (self.next % self.count))
        self.receive(self.answer)


class Server:
    """A program that prints its port."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        port = int(self.process.stdout.readline().split()[1])
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self):
        self.socket.sendall(b"x")
        self.socket.recv(1)


class Go(Server):
    """tests/bench/latency_server.go."""
    programs = ["go"]

    def __init__(self, mib, folder):
        program = os.path.join(folder, "latency_server")
        subprocess.run(["go", "build", "-o", program, os.path.join(HERE, "latency_server.go")], check=True,
                       env={**os.environ, "GOCACHE": folder, "GO111MODULE": "off"})
        super().__init__([program, str(mib)])


class Java(Server):
    """tests/bench/LatencyServer.java."""
    programs = ["java", "javac"]

    def __init__(self, mib, folder):
        subprocess.run(["javac", "-d", folder, os.path.join(HERE, "LatencyServer.java")], check=True)
        super().__init__(["java", f"-Xmx{2 * mib + 256}m", "-cp", folder, "LatencyServer", str(mib)])


def paced(server, seconds):
    """Send requests at fixed times. Return p50, p99.9 and the longest latency in ms."""
    times, begin = [], time.perf_counter_ns()
    for i in range(int(seconds * 1e9) // INTERVAL_NS):
        due = begin + i * INTERVAL_NS
        while (now := time.perf_counter_ns()) < due:
            time.sleep((due - now) / 1e9)
        server.ask()
        times.append(time.perf_counter_ns() - due)
    times.sort()
    return [times[len(times) // 2] / 1e6, times[len(times) * 999 // 1000] / 1e6, times[-1] / 1e6]


def unpaced(server, seconds):
    """Return requests per second."""
    count, begin = 0, time.perf_counter()
    while (now := time.perf_counter()) < begin + seconds:
        server.ask()
        count += 1
    return count / (now - begin)


def measure(server, seconds):
    return [*paced(server, seconds), unpaced(server, seconds / 4)]


class Series:
    """Figures of the heap every second."""
    name = "series"

    def __init__(self, memstate, pid):
        self.process = subprocess.Popen(
            [memstate, "--csv", "-i", "1", "--heap", "walk", "--max-share", "100%", "-o", COLUMNS,
             "-p", str(pid)], stdout=subprocess.PIPE, text=True)
        self.rows = csv.DictReader(self.process.stdout)
        next(self.rows)

    def end(self):
        self.process.terminate()
        pauses, problems, last = [], set(), None
        for row in self.rows:
            if row["heap_pause_s"] not in ("", last):
                last = row["heap_pause_s"]
                pauses.append(float(last) * 1000)
            problems.add(row["heap_problem"] or "no problem")
        self.process.wait()
        return pauses, problems


class Leaks:
    """Leak scans, each of which copies the whole heap while the process runs. They run apart
    from this process, in which reading a report would delay the client."""
    name = "leaks"

    def __init__(self, memstate, pid):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            ["sh", "-c", 'while :; do "$@"; sleep 1; done', "sh", memstate, "leaks", "--json", "-p",
             str(pid), "--max-pause", "50ms"], stdout=self.out, start_new_session=True)

    def end(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        self.out.seek(0)
        lines = self.out.read().splitlines(True)
        reports = [json.loads(line) for line in lines if line.endswith(b"\n")]
        self.out.close()
        return [r["pause_s"] * 1000 for r in reports], \
            {"copied before" if r["pre_copy"] else "plain pause" for r in reports}


def huge_mib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return int(re.search(r"AnonHugePages: *(\d+)", f.read())[1]) // 1024


def report(name, phases, pauses, results, huge):
    print(f"{name}, load {os.getloadavg()[0]:.1f}: alone; beside memstate, ratio; afterwards, ratio")
    for i, row in enumerate(["p50 ms", "p99.9 ms", "longest ms", "requests/s"]):
        alone, beside, after = (statistics.median(turn[i] for turn in phase) for phase in phases)
        print(f"  {row:11} {alone:10.3f} {beside:10.3f} {beside / alone:6.2f} {after:10.3f} {after / alone:6.2f}")
    print(f"  {len(pauses)} heap reads, paused for {min(pauses):.1f} to {max(pauses):.1f} ms, median "
          f"{statistics.median(pauses):.1f}: {', '.join(sorted(results))}; huge pages {huge} MiB", flush=True)


def compare(memstate, server, kind, turns, seconds):
    phases, pauses, results = ([], [], []), [], set()
    pid = server.process.pid
    huge = [huge_mib(pid)]
    for _ in range(turns):
        phases[0].append(measure(server, seconds))
        reader = kind(memstate, pid)
        phases[1].append(measure(server, seconds))
        more, which = reader.end()
        phases[2].append(measure(server, seconds))
        pauses += more
        results |= which
        huge.append(huge_mib(pid))
    if not pauses:
        sys.exit(f"{kind.name}: no heap was read: {results}")
    report(f"{type(server).__name__}, {kind.name}", phases, pauses, results, huge)


def main():
    memstate, *numbers = sys.argv[1:]
    turns, seconds, mib = (list(map(int, numbers)) + [5, 20, 200][len(numbers):])
    wanted = os.environ.get("SERVERS", "Redis Go Java").split()
    for made, kinds in ((Redis, [Series, Leaks]), (Go, [Series]), (Java, [Series])):
        if made.__name__ not in wanted:
            continue
        if not all(map(shutil.which, made.programs)):
            print(f"not installed: {' or '.join(made.programs)}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            server = made(mib, folder)
            try:
                measure(server, WARM_UP_S)
                for kind in kinds:
                    compare(memstate, server, kind, turns, seconds)
            finally:
                server.process.kill()
                server.process.wait()


main()
