# SPDX-License-Identifier: GPL-2.0-or-later
"""A running exporter, requests to it, and its samples."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from live import TIMEOUT, check, need_built_with, start_memstate, wait_until

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)( # .*)?$')


def parse(text):
    """Return {(name, frozenset of labels): value}; a series that occurs twice is an error."""
    samples = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        check(match, f"not a sample: {line!r}")
        labels = re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match[2] or "")
        key = (match[1], frozenset(labels))
        check(len(dict(labels)) == len(labels), f"a label occurs twice: {line}")
        check(key not in samples, f"the series occurs twice: {line}")
        samples[key] = float(match[3])
    return samples


def add_up(samples, name, **labels):
    """Return the sum over the series with these labels, or None if there are no such series."""
    values = [value for (at, these), value in samples.items()
              if at == name and set(labels.items()) <= these]
    return sum(values) if values else None


def rss(pids):
    """Return the sum of Rss as smaps_rollup has it."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            total += int(re.search(r"^Rss: +(\d+) kB", f.read(), re.M)[1]) * 1024
    return total


def free_port(address="127.0.0.1"):
    with socket.socket() as s:
        s.bind((address, 0))
        return s.getsockname()[1]


class Exporter:
    """memstate exporter on a free port of the loopback interface."""

    def __init__(self, *args, address="127.0.0.1", config=None, **popen):
        need_built_with("MICROHTTPD")
        self.port = free_port(address)
        self.address = address
        if config:
            args = (*args, "--web.config.file", config)
        self.process = start_memstate("exporter", "--web.listen-address", f"{address}:{self.port}",
                                      *args, **popen)
        wait_until(self.is_listening, "the exporter listens or has ended")

    def is_listening(self):
        if self.process.poll() is not None:
            return True
        try:
            socket.create_connection((self.address, self.port), timeout=TIMEOUT).close()
        except OSError:
            return False
        return True

    def child(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
            return int(f.read().split()[0])

    def get(self, path="/metrics", method="GET", source=None, context=None, **headers):
        """Return the response, whose body is in .body."""
        if context:
            c = http.client.HTTPSConnection(self.address, self.port, timeout=TIMEOUT,
                                            context=context)
        else:
            c = http.client.HTTPConnection(self.address, self.port, timeout=TIMEOUT,
                                           source_address=(source, 0) if source else None)
        with contextlib.closing(c):
            c.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            response = c.getresponse()
            response.body = response.read()
            return response

    def wait_ready(self, **options):
        def is_ready():
            check(self.process.poll() is None, "the exporter has ended")
            return self.get("/-/ready", **options).status == 200
        wait_until(is_ready, "the exporter is ready")

    def samples(self, **options):
        return parse(self.get(**options).body.decode())

    def wait_for(self, is_true, what):
        """Wait until the samples fulfil the condition; return them."""
        end = time.monotonic() + TIMEOUT
        while True:
            samples = self.samples()
            if is_true(samples):
                return samples
            check(time.monotonic() < end, f"timed out waiting until {what}")
            time.sleep(0.1)

    def wait_for_message(self, text):
        """Return the next line of standard error with the text."""
        for line in iter(self.process.stderr.readline, b""):
            if text in line:
                return line
        raise AssertionError(f"no message with {text}: the exporter has ended")

    def connect(self, source=None):
        return socket.create_connection((self.address, self.port), timeout=TIMEOUT,
                                        source_address=(source, 0) if source else None)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            _, err = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise AssertionError("the exporter does not end")
        return err.decode()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


@contextlib.contextmanager
def ready(*args, **options):
    with Exporter(*args, **options) as exporter:
        exporter.wait_ready()
        yield exporter


def copies(folder, name, count):
    """Start copies of sleep(1) whose command is `name`, and wait until they sleep."""
    path = os.path.join(folder, name)
    # a former copy cannot be written as long as the exporter reads the memory of a process
    # that ran it, even if the process has ended
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    shutil.copy("/bin/sleep", path)
    started = [subprocess.Popen([path, "600"]) for _ in range(count)]

    def is_asleep(process):
        with open(f"/proc/{process.pid}/wchan") as f, open(f"/proc/{process.pid}/comm") as comm, \
             open(f"/proc/{process.pid}/syscall") as call:
            return comm.read().strip() == name and call.read().split()[0] in ("230", "115")
    for process in started:
        wait_until(lambda p=process: is_asleep(p), "it sleeps")
    return started


@contextlib.contextmanager
def sleepers(folder, name, count):
    started = copies(folder, name, count)
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
