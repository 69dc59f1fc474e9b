# SPDX-License-Identifier: GPL-2.0-or-later
"""A process of the same user that attaches all memory it can reach and
optionally overwrites it.

"same_user_lib.py attach|garble PID" works until its standard input ends, then prints as
JSON what it could attach. It needs no privileges; operations that require some are
refused, which the tests rely on.
"""

import ctypes
import glob
import json
import os
import random
import select
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.mmap.restype = ctypes.c_void_p
FAILED = ctypes.c_void_p(-1).value
SHM_INFO, SHM_STAT_ANY = 14, 15
ID_OFFSET_BYTES = 48  # offset of shm_segsz in struct shmid_ds
# Words with a likely meaning: numbers of commands, states and slots; lengths; addresses.
WORDS = [0, 1, 2, 3, 4, 5, 9, 11, 0x7fffffff, 0xffffffff, 0xfffffffe, 0x80000000, 8192, 8191,
         1 << 18, (1 << 18) - 1]


class Attacker:
    def __init__(self, pid, garbles):
        self.pid, self.garbles = pid, garbles
        self.attached = {}  # by number: (address, size)
        self.opened = set()

    def look_at_segments(self):
        stat = ctypes.create_string_buffer(256)
        numbers = {}
        for index in range(max(LIBC.shmctl(0, SHM_INFO, stat), 0) + 1):
            number = LIBC.shmctl(index, SHM_STAT_ANY, stat)
            if number >= 0:
                numbers[number] = struct.unpack_from("=Q", stat, ID_OFFSET_BYTES)[0]
        with open("/proc/sysvipc/shm", encoding="ascii") as lines:
            for line in list(lines)[1:]:
                words = line.split()
                numbers[int(words[1])] = int(words[3])
        for number, size in numbers.items():
            if number in self.attached:
                continue
            addr = LIBC.shmat(number, None, 0)
            if addr != FAILED:
                self.attached[number] = (addr, size)

    def look_at_files(self):
        for pattern in ("mem", "map_files/*", "fd/*", "task/*/mem"):
            for path in glob.glob(f"/proc/{self.pid}/{pattern}"):
                self.try_file(path)
        for path in glob.glob("/dev/shm/*"):
            self.try_file(path)

    def try_file(self, path):
        try:
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW * path.startswith("/dev/shm")))
        except OSError:
            return
        self.opened.add(path)

    def try_memory(self):
        try:
            with open(f"/proc/{self.pid}/maps", encoding="ascii", errors="replace") as lines:
                if lines.readline():
                    self.opened.add("maps")
        except OSError:
            pass

    def garble(self):
        for addr, size in list(self.attached.values()):
            words = [random.choice(WORDS) if random.random() < 0.7 else random.getrandbits(32)
                     for _ in range(1024)]
            page = struct.pack("=1024I", *words)
            for offset in range(0, min(size, 1 << 22), 4096):
                ctypes.memmove(addr + offset, page, min(4096, size - offset))

    def run(self):
        print("ready", flush=True)
        while not select.select([sys.stdin], [], [], 0)[0]:
            for _ in range(50):
                self.look_at_segments()
                if self.garbles:
                    self.garble()
            self.look_at_files()
            self.try_memory()
        print(json.dumps({"segments": {number: size for number, (_, size) in self.attached.items()},
                          "files": sorted(self.opened)}))


Attacker(int(sys.argv[2]), sys.argv[1] == "garble").run()
