# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory that is not a heap but whose use is known: its bytes equal, or lie within, what
the program itself reports, and hardly any memory of these programs remains unknown.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess

from heap_lib import NO_HURRY
from live import (IS_ROOT, KIB, MIB, Folder, Skip, check, equal, is_in_state, map_rows,
                  memstate, run, test, wait_until)

UNKNOWN_MAX = 0.05  # of Rss
AFTER = rb"\{GC [^}]* -> (\d+)([kM])"  # a message of GCC's collector

DIRECT = """
import ctypes, mmap, os, struct, sys
kept = []
code = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                 prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"x" * len(code))
other = mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
other.write(b"x" * len(other))
libc = ctypes.CDLL(None, use_errno=True)
params = ctypes.create_string_buffer(120)
ring = libc.syscall(425, 256, params)  # io_uring_setup(2)
size = 0
if ring >= 0:
    entries, array = (struct.unpack_from("I", params, offset)[0] for offset in (0, 64))
    size = (array + 4 * entries + 4095) // 4096 * 4096
    rings = mmap.mmap(ring, size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
print("ready", size, flush=True)
sys.stdin.read()
"""


def read_uses(pid):
    heap = json.loads(memstate("heap", "-p", pid, "-J", *NO_HURRY).must_be(0).out)
    return heap, {use["use"]: use for use in heap["uses"]}


def check_explained(heap):
    share = heap["unknown_anon_bytes"] / heap["rss_bytes"]
    check(share <= UNKNOWN_MAX, f"unknown: {share:.1%} of {heap['rss_bytes']}")


@test
def rings_and_code_are_recognised_and_other_memory_stays_unknown():
    with subprocess.Popen(["python3", "-c", DIRECT], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        try:
            word, ring_bytes = process.stdout.readline().split()
            equal(word, b"ready", "the program's first line")
            heap, uses = read_uses(process.pid)
            equal(uses["JIT code"]["rss_bytes"], MIB, "code without a file")
            equal(uses["JIT code"]["owner"], "anon", "owner of the code")
            if int(ring_bytes) > 0:
                equal(uses["io_uring rings"]["size_bytes"], int(ring_bytes), "size of the rings")
            check(heap["unknown_anon_bytes"] >= 4 * MIB, f"unknown: {heap['unknown_anon_bytes']}")
            rows = [row for row in map_rows(process.pid) if row["use"] == "JIT code"]
            equal(sum(row["rss_bytes"] for row in rows), MIB, "code in the list of mappings")
        finally:
            process.kill()


ASAN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t __sanitizer_get_current_allocated_bytes(void);

int main(void)
{
	for (int i = 0; i < 60000; i++)
		memset(malloc(200), 1, 200);
	printf("ready %zu\\n", __sanitizer_get_current_allocated_bytes());
	fflush(stdout);
	getchar();
	return 0;
}
"""


@test
def memory_of_the_address_sanitizer_is_recognised():
    if os.uname().machine != "x86_64" or not shutil.which("gcc"):
        raise Skip("needs gcc on x86_64")
    with Folder() as folder:
        with open(f"{folder}/a.c", "w", encoding="ascii") as f:
            f.write(ASAN)
        built = subprocess.run(["gcc", "-fsanitize=address", "-o", f"{folder}/a", f"{folder}/a.c"],
                               stderr=subprocess.PIPE, check=False)
        if built.returncode != 0:
            raise Skip("gcc has no AddressSanitizer")
        with subprocess.Popen([f"{folder}/a"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "LSAN_OPTIONS": "detect_leaks=0"}) as process:
            try:
                allocated = int(process.stdout.readline().split()[1])
                rows = map_rows(process.pid)
                heap = sum(r["rss_bytes"] for r in rows if r["use"] == "ASan heap")
                shadow = sum(r["rss_bytes"] for r in rows if r["use"] == "ASan shadow")
                check(allocated <= heap <= 2 * allocated, f"{heap} for {allocated}")
                check(shadow >= heap / 8 - MIB, f"shadow: {shadow}")
                equal([r["use"] for r in rows if r["name"] == "[heap]"], [], "no brk heap")
            finally:
                process.kill()


TEMPLATES = "".join(f"""
struct Key{i} {{ int v; bool operator<(const Key{i} &o) const {{ return v < o.v; }} }};
std::map<Key{i}, std::vector<std::string>> map{i};
void add{i}(int n) {{ map{i}[Key{i}{{n}}].push_back("x"); }}
""" for i in range(400))


@contextlib.contextmanager
def compiler(folder):
    """Yield a compiler of GCC that has been stopped, and the messages of its collector."""
    if not shutil.which("g++"):
        raise Skip("g++ is not installed")
    source = "#include <map>\n#include <string>\n#include <vector>\n" + TEMPLATES
    with open(f"{folder}/a.cc", "w", encoding="ascii") as f:
        f.write(source)
    options = ["-fpreprocessed", "-O1", "--param=ggc-min-heapsize=16384",
               "--param=ggc-min-expand=30", f"{folder}/a.ii", "-o", "/dev/null"]
    subprocess.run(["g++", "-E", f"{folder}/a.cc", "-o", f"{folder}/a.ii"], check=True)
    program = subprocess.run(["g++", "-print-prog-name=cc1plus"], stdout=subprocess.PIPE,
                             check=True).stdout.decode().strip()
    with subprocess.Popen([program, *options], stderr=subprocess.PIPE) as process:
        try:
            messages = b""
            while len(re.findall(AFTER, messages)) < 2:
                part = os.read(process.stderr.fileno(), 4096)
                check(part, f"the compiler ended: {messages[-200:]!r}")
                messages += part
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: is_in_state(process.pid, b"T"), "the compiler stops")
            yield process.pid, re.findall(AFTER, messages)
        finally:
            process.kill()


@test
def collected_memory_of_gcc_is_recognised():
    with Folder() as folder, compiler(folder) as (pid, messages):
        after = [int(n) * (MIB if unit == b"M" else KIB) for n, unit in messages]
        heap, uses = read_uses(pid)
        gcc = uses["GCC collected memory"]
        equal(heap["heap_quality"], "exact", "quality")
        equal(gcc["is_upper_bound"], False, "the heap was read")
        check(gcc["rss_bytes"] >= after[-1], f"{gcc['rss_bytes']}: {after}")
        check_explained(heap)


def find(program):
    path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not path:
        raise Skip(f"{program} is not installed")
    return path


def ask(folder, sql):
    command = [find("mariadb"), "--no-defaults", "-S", f"{folder}/socket", "-N", "-e", sql]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return dict(line.split("\t") for line in result.stdout.decode().splitlines())


@contextlib.contextmanager
def mariadb(folder, *options):
    server, install = find("mariadbd"), find("mariadb-install-db")
    user = ["--user=root"] if IS_ROOT else []
    subprocess.run([install, "--no-defaults", *user, f"--datadir={folder}/data", "--skip-test-db",
                    "--auth-root-authentication-method=normal"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    own = [*user, f"--datadir={folder}/data", "--skip-networking", f"--socket={folder}/socket"]
    with subprocess.Popen([server, "--no-defaults", *own, *options],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: process.poll() is not None or ask(folder, "select 1, 1"),
                       "the server answers")
            if process.poll() is not None:
                raise Skip("mariadbd does not start here")
            yield process.pid
        finally:
            process.kill()


LOAD = """CREATE DATABASE d; USE d; CREATE TABLE t (i INT PRIMARY KEY, s CHAR(200)) ENGINE=InnoDB;
INSERT INTO t SELECT seq, REPEAT('x', 200) FROM seq_1_to_30000;"""


def check_pool(folder, pid, pool_bytes):
    status = ask(folder, "SHOW STATUS LIKE 'innodb_buffer_pool%'; "
                         "SHOW VARIABLES LIKE 'innodb_%_size'")
    heap, uses = read_uses(pid)
    pool = uses["InnoDB buffer pool"]
    log_bytes = int(status["innodb_log_buffer_size"])
    data_bytes = int(status["Innodb_buffer_pool_bytes_data"])
    equal(int(status["innodb_buffer_pool_size"]), pool_bytes, "the server's own size")
    # the two log buffers may be in the same mapping
    check(0 <= pool["size_bytes"] - pool_bytes <= 2 * log_bytes, pool)
    check(data_bytes <= pool["rss_bytes"] <= data_bytes + 2 * log_bytes + pool_bytes / 8,
          f"{pool}: {data_bytes} of data")
    equal(pool["limit"], "innodb_buffer_pool_size", "limit")
    check_explained(heap)


@test
def the_buffer_pool_of_mariadb_is_recognised():
    with Folder() as folder, mariadb(folder, "--innodb-buffer-pool-size=96M") as pid:
        ask(folder, LOAD)
        check_pool(folder, pid, 96 * MIB)


run()
