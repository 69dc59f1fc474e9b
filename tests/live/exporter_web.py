#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter: HTTP, its limits, and the rights of its two processes."""

import contextlib
import gzip
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from exporter_lib import OPENMETRICS, parse, ready
from live import (IS_ROOT, MEMSTATE, TIMEOUT, check, equal, memstate, need_built_with, run,
                  start_memstate, status_field, test, wait_until)


def count_descriptors(pid):
    """Return the number of descriptors, or 0 if it is unknown: only root may see those of a
    process that cannot be dumped."""
    return len(os.listdir(f"/proc/{pid}/fd")) if IS_ROOT else 0


@test
def formats_and_encodings_are_negotiated():
    accepts = {
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1": True,
        "text/plain;version=0.0.4": False, "*/*": False, "application/openmetrics-text;version=0.0.1": False,
        "application/openmetrics-text;q=0.1,text/plain;q=0.9": False, "": False,
    }
    with ready() as exporter:
        for accept, is_openmetrics in accepts.items():
            response = exporter.get(Accept=accept)
            kind = response.headers["Content-Type"]
            equal(kind.startswith("application/openmetrics-text; version=1.0.0"), is_openmetrics, accept)
            equal(response.body.endswith(b"# EOF\n"), is_openmetrics, accept)


@test
def answers_are_packed_on_request():
    need_built_with("PPROF")  # which includes zlib
    with ready() as exporter:
        packed = exporter.get(Accept_Encoding="gzip")
        equal(packed.headers["Content-Encoding"], "gzip", "encoding")
        parse(gzip.decompress(packed.body).decode())
        equal(exporter.get(Accept_Encoding="gzip;q=0").headers["Content-Encoding"], None, "no gzip")


def select(exporter, *parameters, accept="*/*", encoding="identity"):
    """Return the response to a request with these parameters, which are (name, value)."""
    return exporter.get("/metrics?" + urllib.parse.urlencode(parameters), Accept=accept,
                        Accept_Encoding=encoding)


def names_of(samples):
    return {name for name, _ in samples}


@test
def requests_select_collectors_and_families():
    pss, build = "memstate_group_pss_bytes", "memstate_build_info"
    with ready("-i", "1h", "--group-by", "comm") as exporter:
        every = parse(exporter.get().body.decode())
        # with these, the look is complete: each series is in one collector, with the same value
        parts = [parse(select(exporter, ("collect[]", name)).body.decode())
                 for name in ("processes", "cgroups", "exporter")]
        equal({key: value for part in parts for key, value in part.items()}, every, "all collectors")
        equal(sum(len(part) for part in parts), len(every), "no series is in two collectors")
        check(all(name.startswith("memstate_group_") for name in names_of(parts[0])), "processes")
        equal(names_of(parse(select(exporter, ("name[]", pss), ("name[]", build)).body.decode())), {pss, build},
              "names")
        both = select(exporter, ("collect[]", "processes"), ("name[]", pss), ("name[]", build))
        equal(parse(both.body.decode()), {key: every[key] for key in every if key[0] == pss}, "both")
        packed = select(exporter, ("name[]", "memstate_oom_verdicts_total"), accept=OPENMETRICS, encoding="gzip")
        text = packed.body
        if packed.headers["Content-Encoding"] == "gzip":
            text = gzip.decompress(text)
        check(text.startswith(b"# TYPE memstate_oom_verdicts counter\n"), text[:100])
        check(text.endswith(b"\n# EOF\n"), text[-100:])
        equal(select(exporter, ("name[]", build), ("collect[]", "cgroups"), accept=OPENMETRICS).body, b"# EOF\n",
              "an empty selection")
        equal(exporter.get().body, select(exporter, ("other", "x")).body, "other parameters are ignored")


@test
def wrong_selections_are_refused():
    with ready() as exporter:
        for parameter, why in ((("collect[]", "cpu"), b"collect[]=cpu: unknown collector\n"),
                               (("collect[]", "owners"), b"the exporter runs without --owners\n"),
                               (("name[]", "a\r\n<b>"), b"name[]=a\\x0d\\x0a<b>: "),
                               (("name[]", "x" * 20000), b": unknown metric\n")):
            response = select(exporter, parameter)
            equal((response.status, response.headers["Content-Type"]),
                  (400, "text/plain; charset=utf-8"), why)
            check(why in response.body, response.body)
            check(response.body.count(b"\n") == 1 and len(response.body) < 200, "one line")
        equal(exporter.get("/metrics?collect[]").status, 400, "without a value")
        equal(exporter.get("/metrics?" + "name[]=memstate_build&" * 100).status, 200, "many parameters")
        equal(exporter.get().status, 200, "still served")


@test
def paths_and_methods():
    with ready("--web.telemetry-path", "/m<>") as exporter:
        equal(exporter.get("/").status, 200, "/")
        check(b'href="/m&#60;&#62;"' in exporter.get("/").body, "the path is escaped")
        equal(exporter.get("/m%3C%3E").status, 200, "metrics")
        equal(exporter.get("/metrics").status, 404, "other path")
        equal(exporter.get("/-/healthy").status, 200, "healthy")
        head = exporter.get("/", method="HEAD")
        equal((head.status, head.body), (200, b""), "HEAD")
        post = exporter.get("/", method="POST")
        equal((post.status, post.headers["Allow"]), (405, "GET, HEAD"), "POST")


@test
def the_process_with_the_sockets_has_no_rights():
    with ready() as exporter:
        child = exporter.child()
        equal(status_field(child, "CapEff"), "0" * 16, "capabilities")
        equal(status_field(child, "CapPrm"), "0" * 16, "capabilities")
        equal(status_field(child, "NoNewPrivs"), "1", "no new privileges")
        equal(status_field(child, "Seccomp"), "2", "filter")
        if IS_ROOT:
            equal(status_field(child, "Uid").split(), ["65534"] * 4, "user")
            sockets = [os.readlink(f"/proc/{exporter.process.pid}/fd/{fd}")
                       for fd in os.listdir(f"/proc/{exporter.process.pid}/fd")]
            with open("/proc/net/tcp") as f:
                listening = {line.split()[9] for line in f if f":{exporter.port:04X} " in line}
            check(listening, "the socket is listed")
            check(not any(f"socket:[{inode}]" in sockets for inode in listening),
                  "the process that reads has no socket")


@test
def if_one_process_ends_the_other_ends_too():
    with ready() as exporter:
        child = exporter.child()
        os.kill(child, signal.SIGKILL)
        _, err = exporter.process.communicate(timeout=TIMEOUT)
        equal(exporter.process.returncode, 1, "exit status")
        check(b"the process that serves the metrics has ended" in err, err)
    with ready() as exporter:
        child = exporter.child()
        exporter.process.kill()
        exporter.process.wait()
        wait_until(lambda: not os.path.exists(f"/proc/{child}"), "the child has ended")


def is_closed(connection):
    """Return whether the exporter has closed the connection."""
    connection.settimeout(0)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@test
def idle_and_slow_clients_do_not_keep_others_out():
    """One address keeps the last four of its connections; another address is served."""
    with ready() as exporter, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(exporter.connect("127.0.0.2")) for _ in range(8)]
        for connection in idle:
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        equal(exporter.get(source="127.0.0.3").status, 200, "status")
        wait_until(lambda: sum(is_closed(c) for c in idle) == 4, "four connections are closed")
        equal([is_closed(c) for c in idle], [True] * 4 + [False] * 4, "the oldest are closed")


@contextlib.contextmanager
def slow_clients(exporter, count, source):
    """Keep this many connections open, each of which sends a byte of its header now and then.
    Connections that the exporter closes are opened again."""
    is_over, opened = threading.Event(), []

    def attack():
        connections = []
        while not is_over.is_set():
            while len(connections) < count:
                with contextlib.suppress(OSError):
                    connections.append(exporter.connect(source))
                    opened.append(None)
            for connection in connections[:]:
                try:
                    connection.sendall(b"X")
                    if is_closed(connection):
                        raise ConnectionError
                except OSError:
                    connection.close()
                    connections.remove(connection)
        for connection in connections:
            connection.close()
    thread = threading.Thread(target=attack)
    thread.start()
    try:
        wait_until(lambda: len(opened) >= count, "the slow clients are connected")
        yield opened
    finally:
        is_over.set()
        thread.join()


@test
def two_hundred_slow_clients_do_not_keep_a_scraper_of_the_same_address_out():
    with ready() as exporter:
        with slow_clients(exporter, 200, "127.0.0.2") as opened:
            answers = []
            for _ in range(50):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    answers.append(exporter.get(source="127.0.0.2").status)
            print(f"{len(answers)} of 50 requests answered, {len(opened)} slow connections", file=sys.stderr)
            equal(set(answers), {200}, "status")
            # a request is lost if four slow clients connect before its header arrives
            check(len(answers) >= 30, f"{len(answers)} of 50 requests are answered")
        equal(exporter.get().status, 200, "still served")


@test
def a_header_takes_at_most_ten_seconds():
    with ready() as exporter, exporter.connect() as slow:
        begin = time.monotonic()
        slow.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        while not is_closed(slow):
            check(time.monotonic() - begin < 25, "the connection is closed in time")
            with contextlib.suppress(ConnectionError):
                slow.sendall(b"X")
            time.sleep(0.2)
        check(time.monotonic() - begin >= 9, "it had ten seconds")


@test
def a_thousand_connections_and_then_a_scrape():
    with ready() as exporter:
        with contextlib.ExitStack() as stack:
            for i in range(1000):
                s = stack.enter_context(socket.socket())
                s.setblocking(False)
                with contextlib.suppress(OSError):
                    s.bind((f"127.0.{1 + i % 200}.1", 0))
                s.connect_ex((exporter.address, exporter.port))
        equal(exporter.get().status, 200, "status")
        wait_until(lambda: count_descriptors(exporter.child()) < 8, "all are closed")


@test
def a_scraper_that_never_reads_delays_nobody():
    with ready("--group-by", "comm", "--top", "1000") as exporter, contextlib.ExitStack() as stack:
        for i in range(3):
            s = stack.enter_context(exporter.connect("127.0.0.2"))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            for _ in range(20):
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        equal(exporter.get(source="127.0.0.3").status, 200, "status")


@test
def damaged_requests_are_refused():
    requests = [b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 65536 + b"\r\n\r\n", b"\0" * 4096, b"GET\r\n\r\n",
                b"GET /" + b"x" * 40000 + b" HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(512)]
    with ready() as exporter:
        for request in requests:
            with exporter.connect() as s:
                with contextlib.suppress(OSError):
                    s.sendall(request)
                    s.shutdown(socket.SHUT_WR)
                    answer = s.recv(100)
                    check(not answer.startswith(b"HTTP/1.1 200"), f"{request[:30]}: {answer}")
        equal(exporter.get().status, 200, "still served")


REQUEST = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text;version=1.0.0;q=0.5,*/*\r\n" \
          b"Accept-Encoding: gzip\r\nAuthorization: Basic YTpi\r\nConnection: close\r\n\r\n"


def damage(generator):
    """Return the request with a few bytes replaced, repeated or left out."""
    request = bytearray(REQUEST)
    for _ in range(generator.randrange(1, 6)):
        at = generator.randrange(len(request))
        kind = generator.randrange(4)
        if kind == 0:
            request[at] = generator.randrange(256)
        elif kind == 1:
            length = generator.choice([1, 2, 100, 40000])
            request[at:at] = bytes([generator.randrange(256)]) * length
        elif kind == 2:
            del request[at:at + generator.randrange(1, 20)]
        else:
            request[at:at] = request[:generator.randrange(len(request))]
    return bytes(request)


@test
def random_damage_does_not_end_it():
    seed = int(os.environ.get("SEED", time.time_ns()))
    count = int(os.environ.get("COUNT", "200"))
    generator = random.Random(seed)
    with ready() as exporter:
        child = exporter.child()
        for i in range(count):
            with exporter.connect() as s:
                s.settimeout(0.02)
                with contextlib.suppress(OSError):
                    s.sendall(damage(generator))
                    while s.recv(65536):
                        pass
            check(os.path.exists(f"/proc/{child}"), f"it has ended: SEED={seed}, request {i}")
        wait_until(lambda: count_descriptors(child) < 8, f"all are closed: SEED={seed}")
        equal(exporter.get().status, 200, f"SEED={seed}")


@test
def a_unix_socket_is_served_and_removed():
    need_built_with("MICROHTTPD")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        for _ in range(2):
            process = start_memstate("exporter", "--web.listen-address", path)
            wait_until(lambda: os.path.exists(path), "the socket exists")
            with socket.socket(socket.AF_UNIX) as s:
                wait_until(lambda: s.connect_ex(path) == 0, "it listens")
                s.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                check(s.recv(100).startswith(b"HTTP/1.1 200"), "healthy")
            process.terminate()
            equal(process.wait(timeout=TIMEOUT), 0, "exit status")
            check(not os.path.exists(path), "the socket is removed")
        # one that a killed exporter has left is replaced
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
        process = start_memstate("exporter", "--web.listen-address", path)
        with socket.socket(socket.AF_UNIX) as s:
            wait_until(lambda: s.connect_ex(path) == 0, "it listens")


@test
def systemd_passes_the_socket():
    need_built_with("MICROHTTPD")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        script = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" exporter --web.systemd-socket' % \
            listening.fileno()
        process = subprocess.Popen(["sh", "-c", script, MEMSTATE], pass_fds=[listening.fileno()],
                                   stderr=subprocess.PIPE)
        try:
            with socket.create_connection(listening.getsockname(), timeout=TIMEOUT) as s:
                s.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                check(s.recv(100).startswith(b"HTTP/1.1 200"), "healthy")
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT)
    equal(memstate("exporter", "--web.systemd-socket").status, 1, "without a socket")


if __name__ == "__main__":
    run()
