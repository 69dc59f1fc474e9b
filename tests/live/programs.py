# SPDX-License-Identifier: GPL-2.0-or-later
"""Common programs: all of their memory is explained, and the figures equal malloc's own.

The figures come from the program itself: from its own code, or from mallinfo2()
called by gdb.
"""

import contextlib
import ctypes.util
import glob
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import urllib.request

from heap_lib import HEAP_OWNERS, MALLINFO, NO_HURRY, check_matrix, read_heap
from live import (IS_ROOT, KIB, MIB, Folder, Skip, check, equal, is_in_state, memstate, read_proc,
                  run, test, wait_until)

WORDS = struct.Struct(f"{len(MALLINFO)}Q")


def need(*programs):
    for program in programs:
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            raise Skip(f"{program} is not installed")


@contextlib.contextmanager
def started(*argv, says=b""):
    """A program that has received its script, printed "ready", and waits
    for more input."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        try:
            process.stdin.write(says)
            process.stdin.flush()
            check(any(line == b"ready\n" for line in process.stdout), f"{argv[0]} ended too early")
            wait_until(lambda: is_in_state(process.pid, b"S"), f"{argv[0]} waits")
            yield process
        finally:
            process.kill()


def ask_gdb(pid):
    """Return mallinfo2() of a process as called by gdb, or None without gdb.

    The result lies far below the stack pointer.
    """
    if not shutil.which("gdb"):
        return None
    result = subprocess.run(
        ["gdb", "-nx", "-batch", "-p", str(pid), "-iex", "set debuginfod enabled off",
         "-ex", "set $at = ((unsigned long) $sp - 65536) & ~63",
         "-ex", "call ((void *(*)(void *)) mallinfo2)((void *) $at)",
         "-ex", f"x/{len(MALLINFO)}gd $at"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    rows = re.findall(rb"^0x[0-9a-f]+(?: <.*>)?:((?:\t\d+)+)$", result.stdout, re.MULTILINE)
    values = [int(word) for row in rows for word in row.split()]
    if len(values) != len(MALLINFO):
        print(f"gdb cannot call mallinfo2(): {result.stdout[-300:]!r}", file=sys.stderr)
        return None
    return dict(zip(MALLINFO, values))


def check_resting(pid, least_live):
    """Check an idle process: exact, fully explained, and equal to its own figures
    before and after."""
    before = ask_gdb(pid)
    heap = read_heap(pid)
    row = check_matrix(pid)
    after = ask_gdb(pid)
    equal(heap["problem"], None, "problem")
    equal(heap["heap_quality"], "exact", "quality")
    equal(heap["unexplained_bytes"], 0, "unexplained")
    check(row["live_bytes"] >= least_live, f"live: {row['live_bytes']}")
    if before and before == after:
        equal(heap["mallinfo2"], before, "mallinfo2")
    running = json.loads(memstate("heap", "--no-stop", "-p", pid, "-J").must_be(0).out)
    equal(running["unexplained_bytes"], 0, "unexplained without a stop")
    equal(sum(a["bin_bytes"] for a in running["arenas"]),
          sum(a["bin_bytes"] for a in heap["arenas"]), "free bytes in bins without a stop")


PYTHON = """
import ctypes, os, struct
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]
mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Info
import decimal, email, http.client, json, re
data = {i: [str(i) * 20, {"bytes": bytes(i % 3000)}] for i in range(60000)}
for i in range(0, 60000, 3):
    del data[i]
os.write(1, b"ready\\n")
while os.read(0, 1):
    os.write(1, mallinfo2())
"""


@test
def python_figures_match_its_own():
    def ask():
        process.stdin.write(b"?")
        process.stdin.flush()
        return dict(zip(MALLINFO, WORDS.unpack(process.stdout.read(WORDS.size))))

    def is_met():
        """Compare between two equal answers: answering may itself call malloc()."""
        before = ask()
        wait_until(lambda: is_in_state(process.pid, b"S"), "python waits")
        heap = read_heap(process.pid)
        if ask() != before:
            return False
        equal(heap["mallinfo2"], before, "mallinfo2")
        return True

    if not hasattr(__import__("ctypes").CDLL(None), "mallinfo2"):
        raise Skip("mallinfo2() is not available")
    with started(sys.executable, "-c", PYTHON) as process:
        check_resting(process.pid, 10 * MIB)
        wait_until(is_met, "two answers are equal")


@test
def sqlite_with_a_table_in_memory_is_explained():
    need("sqlite3")
    sql = b"""CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)
            INSERT INTO t SELECT x, hex(randomblob(40)) FROM c;
        DELETE FROM t WHERE a % 3 = 0;
.shell echo ready
"""
    with started("sqlite3", "-batch", ":memory:", says=sql) as process:
        check_resting(process.pid, 4 * MIB)


@test
def perl_with_a_hash_is_explained():
    need("perl")
    code = """$| = 1; my %h = map { $_ => "x" x ($_ % 700) } 1..40000;
        delete $h{$_ * 3} for 1..10000; print "ready\\n"; <STDIN>;"""
    with started("perl", "-e", code) as process:
        check_resting(process.pid, 4 * MIB)


@test
def bash_with_an_array_is_explained():
    need("bash")
    code = "for ((i = 0; i < 20000; i++)); do a[i]=some-text-$i; done; echo ready; read -r line"
    with started("bash", "-c", code) as process:
        result = memstate("heap", "-p", process.pid, *NO_HURRY)
        if result.status == 1 and b"heap could not be read" in result.err:
            raise Skip("this bash has its own malloc")
        check_resting(process.pid, 500 * KIB)


NGINX = """daemon off; worker_processes 1; %s
pid %s/pid; error_log stderr;
events { worker_connections 256; }
http {
    access_log off; gzip on; gzip_min_length 1; gzip_types text/plain; default_type text/plain;
    client_body_temp_path %s/a; proxy_temp_path %s/b; fastcgi_temp_path %s/c;
    uwsgi_temp_path %s/d; scgi_temp_path %s/e;
    server { listen 127.0.0.1:%d; root %s; }
}
"""


def write_nginx(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(f"{folder}/conf", "w", encoding="ascii") as f:
        f.write(NGINX % ("user root;" if IS_ROOT else "", *[folder] * 6, port, folder))
    with open(f"{folder}/page", "w", encoding="ascii") as f:
        f.write("".join(f"line {i}\n" for i in range(20000)))
    return f"http://127.0.0.1:{port}/page"


def children(pid):
    return [int(child) for child in read_proc(f"{pid}/task/{pid}", "children").split()]


def get(url, count):
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(count):
        with opener.open(request) as answer:
            answer.read()


@contextlib.contextmanager
def nginx(folder):
    """Yield the worker's pid and the URL of a page."""
    path = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    url = write_nginx(folder)
    with subprocess.Popen([path, "-p", folder, "-c", f"{folder}/conf", "-e", "stderr"],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            wait_until(lambda: process.poll() is not None or children(process.pid),
                       "a worker is running")
            if process.poll() is not None:
                raise Skip(f"nginx does not start: {process.stderr.read().decode().strip()}")
            worker = children(process.pid)[0]
            wait_until(lambda: is_in_state(worker, b"S"), "the worker waits")
            yield worker, url
        finally:
            process.terminate()


@test
def nginx_is_explained_under_load_and_after():
    need("nginx")
    with Folder() as folder, nginx(folder) as (worker, url):
        get(url, 5)
        clients = [threading.Thread(target=get, args=(url, 60)) for _ in range(4)]
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            heap = read_heap(worker)
            equal(heap["unexplained_bytes"], 0, "unexplained")
            check(heap["heap_quality"] in ("exact", "estimate"), heap["heap_quality"])
            check_matrix(worker, is_still=False)
        for client in clients:
            client.join()
        wait_until(lambda: is_in_state(worker, b"S"), "the worker waits")
        check_resting(worker, 50 * KIB)


GO = """package main
import "os"
var kept [][]byte
func main() {
	for i := 0; i < 20000; i++ {
		kept = append(kept, make([]byte, 100 + i % 900))
	}
	os.Stdout.Write([]byte("ready\\n"))
	os.Stdin.Read(make([]byte, 1))
	println(len(kept))
}
"""


def build(folder, name, source, *command, **more):
    with open(f"{folder}/{name}", "w", encoding="ascii") as f:
        f.write(source)
    subprocess.run([*command, "-o", f"{folder}/built", f"{folder}/{name}"], check=True,
                   cwd=folder, **more)
    return f"{folder}/built"


@test
def the_heap_of_a_go_program_is_read():
    found = [shutil.which("go"), *glob.glob("/usr/lib/go-*/bin/go")]
    if not any(found):
        raise Skip("go is not installed")
    with Folder() as folder:
        env = dict(os.environ, GOCACHE=f"{folder}/cache", GO111MODULE="off", HOME=folder)
        program = build(folder, "m.go", GO, next(filter(None, found)), "build", env=env)
        with started(program) as process:
            for args in ((), ("--no-stop",)):
                result = memstate("heap", "-p", process.pid, *args, *NO_HURRY).must_be(0)
                check(b": Go heap, " in result.out.splitlines()[0], result.out)
            row = memstate("-p", process.pid, "--csv", "-n1", *NO_HURRY).must_be(0).rows()[0]
            equal(row["allocator"], "go", "allocator")
            equal(row["unexplained_bytes"] if "unexplained_bytes" in row else 0, 0, "unexplained")
            check(row["live_bytes"] > MIB, row)


@test
def a_jemalloc_overridden_by_another_allocator_is_not_the_heap():
    """As in a program linked with jemalloc that has tcmalloc or mimalloc preloaded."""
    names = ("tcmalloc_minimal", "mimalloc", "jemalloc")
    tcmalloc, mimalloc, jemalloc = map(ctypes.util.find_library, names)
    if not (tcmalloc and mimalloc and jemalloc):
        raise Skip(f"one of {names} is not installed")
    program = ("PYTHONMALLOC=malloc", sys.executable, "-c",
               "kept = [bytearray(1000) for _ in range(10000)]\nprint('ready', flush=True); input()")
    for name, library in (("tcmalloc", tcmalloc), ("mimalloc", mimalloc)):
        with started("env", f"LD_PRELOAD={library} {jemalloc}", *program) as process:
            heap = json.loads(memstate("heap", "-p", process.pid, "--json", *NO_HURRY).must_be(0).out)
            equal(heap["allocator"], name, "the first heap")
            check(heap["arenas"][0]["live_bytes"] > 10000 * 1000, heap["arenas"])
            for other in (heap["heaps"] or [])[1:]:
                check(other["live_resident_bytes"] < MIB, f"not the program's heap: {other}")

run()
