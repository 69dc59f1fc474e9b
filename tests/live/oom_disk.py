# SPDX-License-Identifier: GPL-2.0-or-later
"""oom watch on a disk that fills up: it prints one line when that happens, and fails
at the end."""

import os
import signal
import subprocess
import threading

from live import MIB, Folder, Skip, check, equal, run, start_memstate, wait_until
from oom_lib import Filled, Group, test

ROOM = 1 * MIB


class Disk:
    """A small tmpfs."""

    def __init__(self, folder):
        self.path = folder

    def __enter__(self):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", self.path], capture_output=True)
        if done.returncode != 0:
            raise Skip(f"mounting is not permitted: {done.stderr.decode().strip()}")
        return self

    def __exit__(self, *unused):
        subprocess.run(["umount", "-l", self.path], check=True)

    def fill(self):
        try:
            with open(f"{self.path}/other", "wb", buffering=0) as f:
                while True:
                    f.write(bytes(4096))
        except OSError:
            pass


@test
def a_full_disk_is_reported_once_when_it_happens():
    with Folder() as folder, Disk(folder) as disk, Group(64 * MIB) as group, Filled(group, "anon=5"):
        watch = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", f"{folder}/r", "-i", "10ms")
        lines = []

        def read_errors():
            lines.extend(watch.stderr)
        if not watch.stdout.readline():
            raise Skip("built without SQLite")
        reader = threading.Thread(target=read_errors)
        reader.start()
        try:
            disk.fill()
            with Filled(group, "anon=5", "fork=4/1"):  # causes new data to record
                wait_until(lambda: any(os.strerror(28).encode() in line for line in lines), "the message")
                equal(watch.poll(), None, "exit status while it must be running")
            watch.send_signal(signal.SIGTERM)
            watch.wait(timeout=60)
        finally:
            watch.kill()
            watch.wait()
            reader.join()
        equal(watch.returncode, 3, "status")
        said = [line for line in lines if os.strerror(28).encode() in line]
        equal(len(said), 1, f"lines: {lines}")
        check(f"{folder}/r".encode() in said[0], said[0])


run()
