#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what a series with heap reads costs the clients of a server: latency and
throughput of redis-server and of a small Java server, with and without
"memstate --csv -i 1 --heap walk" beside them, in turns.

Usage: latency.py MEMSTATE [TURNS [SECONDS [MIB]]]

One client sends one request after the other. The figures are medians over the turns.
"""

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP_S = 3


class Redis:
    """A server with a table of values of 1000 bytes."""
    name = "redis-server"

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


class Java:
    """tests/bench/LatencyServer.java."""
    name = "java"

    def __init__(self, mib, _):
        self.process = subprocess.Popen(
            ["java", f"-Xmx{2 * mib + 256}m", os.path.join(HERE, "LatencyServer.java"), str(mib)],
            stdout=subprocess.PIPE)
        port = int(self.process.stdout.readline().split()[1])
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self):
        self.socket.sendall(b"x")
        self.socket.recv(1)


def measure(server, seconds):
    """Return p50, p99.9 and the longest latency in ms, and requests per second."""
    times, begin = [], time.perf_counter_ns()
    end = last = begin
    while end - begin < seconds * 1e9:
        server.ask()
        end = time.perf_counter_ns()
        times.append(end - last)
        last = end
    times.sort()
    return [times[len(times) // 2] / 1e6, times[len(times) * 999 // 1000] / 1e6, times[-1] / 1e6,
            len(times) / ((end - begin) / 1e9)]


def measure_beside(memstate, server, seconds):
    """Measure while memstate samples the server every second and walks its heap."""
    with subprocess.Popen([memstate, "--csv", "-i", "1", "--heap", "walk", "-p",
                           str(server.process.pid)], stdout=subprocess.PIPE, text=True) as series:
        time.sleep(1)
        figures = measure(server, seconds)
        series.terminate()
        rows = series.stdout.read().splitlines()
    if len(rows) < 3:
        sys.exit(f"no comparison: memstate wrote only {len(rows)} lines")
    return figures


def report(server, plain, beside):
    rows = ["p50 ms", "p99.9 ms", "longest ms", "requests/s"]
    print(f"{server.name}, load {os.getloadavg()[0]:.0f}: alone; beside memstate; ratio")
    for i, row in enumerate(rows):
        a, b = (statistics.median(turn[i] for turn in turns) for turns in (plain, beside))
        print(f"  {row:11} {a:10.3f} {b:10.3f} {b / a:6.2f}")


def main():
    memstate, *numbers = sys.argv[1:]
    turns, seconds, mib = (list(map(int, numbers)) + [5, 20, 200][len(numbers):])
    for kind, program in ((Redis, "redis-server"), (Java, "java")):
        if not shutil.which(program):
            print(f"{program} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            server = kind(mib, folder)
            try:
                measure(server, WARM_UP_S)
                plain, beside = [], []
                for _ in range(turns):
                    plain.append(measure(server, seconds))
                    beside.append(measure_beside(memstate, server, seconds))
                report(server, plain, beside)
            finally:
                server.process.kill()
                server.process.wait()


main()
