# SPDX-License-Identifier: GPL-2.0-or-later
"""From the recording of a cgroup, memstate finds who wrote a tmpfs file that
no process maps."""

import contextlib
import json
import os
import signal
import subprocess
import sys

from live import MIB, Folder, Skip, check, equal, memstate, run, start_memstate, wait_until
from oom_lib import Group, test

LIMIT = 64 * MIB
# Create a file of some MiB, print a line, wait for a line; then write 256 KiB every 10
# ms, or nothing.
PROGRAM = """
import os, sys, time
path, first, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for _ in range(first):
    os.write(file, bytes(1 << 20))
if mode == "close":
    os.close(file)
print("ready", flush=True)
sys.stdin.readline()
while mode != "idle":
    if mode == "close":
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(file, bytes(256 << 10))
    if mode == "close":
        os.close(file)
    time.sleep(0.01)  # the pace of the writer
time.sleep(1000)
"""


class Program:
    def __init__(self, group, path, first, mode):
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, path, str(first), mode],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=group.enter)
        self.pid = self.process.pid
        equal(self.process.stdout.readline(), b"ready\n", "program")

    def __enter__(self):
        return self

    def go_on(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def tmpfs():
    folder = f"/dev/shm/memstate-{os.getpid()}"
    os.mkdir(folder)
    try:
        yield folder
    finally:
        for name in os.listdir(folder):
            os.unlink(f"{folder}/{name}")
        os.rmdir(folder)


def explain_write(group, folder, writer):
    """Record until the kill; return the growth and the text of the report."""
    path = f"{folder}/r"
    watch = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", path, "-i", "50ms")
    try:
        if not watch.stdout.readline():
            err = watch.stderr.read()
            raise Skip("built without SQLite") if b"require SQLite" in err else AssertionError(err)
        writer.go_on()
        wait_until(lambda: group.version == 2 and "oom_kill 0" not in group.read("memory.events") or
                   group.version == 1 and "oom_kill 0" not in group.read("memory.oom_control"), "a kill")
        wait_until(lambda: b"kill" in watch.stdout.readline(), "the report of the kill")
        watch.send_signal(signal.SIGTERM)
        _, err = watch.communicate(timeout=60)
    finally:
        watch.kill()
        watch.wait()
    if b"kernel's log" in err:
        raise Skip("the kernel's log cannot be read")
    command = ["oom", "explain", "--record", path]
    text = " ".join(memstate(*command).must_be(0).out.decode().split())
    told = json.loads(memstate(*command, "--json").must_be(0).out.splitlines()[0])
    return told["sample"]["growth"]["process"], text


@test
def the_writer_of_an_open_file_is_found():
    with Folder() as folder, tmpfs() as shm, Group(LIMIT) as group, \
            Program(group, f"{shm}/idle", 12, "idle") as idle, Program(group, f"{shm}/log", 1, "write") as writer:
        grower, text = explain_write(group, folder, writer)
        equal([grower["pid"], grower["is_shmem"], grower["file"]], [writer.pid, True, f"{shm}/log"],
              f"not {idle.pid}: {text}")
        check(f"({writer.pid})" in text and f"most of it in {shm}/log, which no other process has open for writing" in text,
              text)


@test
def a_file_closed_after_each_write_is_never_attributed_wrongly():
    """The recorder may or may not have seen it open, so memstate names its
    writer or no process."""
    with Folder() as folder, tmpfs() as shm, Group(LIMIT) as group, \
            Program(group, f"{shm}/idle", 12, "idle"), Program(group, f"{shm}/log", 1, "close") as writer:
        grower, text = explain_write(group, folder, writer)
        check(grower["is_shmem"], text)
        if grower["pid"] is None:
            check("the writer cannot be determined" in text, text)
        else:
            equal([grower["pid"], grower["file"]], [writer.pid, f"{shm}/log"], text)


@test
def a_file_open_in_two_processes_has_no_known_writer():
    with Folder() as folder, tmpfs() as shm, Group(LIMIT) as group, \
            Program(group, f"{shm}/log", 1, "idle"), Program(group, f"{shm}/log", 1, "write") as writer:
        grower, text = explain_write(group, folder, writer)
        equal([grower["pid"], grower["file"]], [None, None], text)
        check("the writer cannot be determined" in text, text)


run()
