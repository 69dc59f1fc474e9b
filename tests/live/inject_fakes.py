# SPDX-License-Identifier: GPL-2.0-or-later
"""A process fakes the remains of a killed memstate. memstate must not write to any
address the process names, nor unmap memory that is not its own."""

import ctypes
import json
import mmap
import os
import select
import struct
import subprocess
import sys

import count_inject_lib
import inject_lib
from inject_lib import FOLDER, end_tool
from live import TIMEOUT, check, equal, read_proc, run, test

AGENT = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "src", "agent")
READ_EXEC = mmap.PROT_READ | mmap.PROT_EXEC
MARK = 0x1234567890


def fake(kind):
    """Run in the faking process: print the addresses, and finally whether
    they were touched."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def take(size, addr=0):
        return libc.mmap(addr, size, mmap.PROT_READ | mmap.PROT_WRITE,
                         mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x10 if addr else 0), -1, 0)

    with open(os.path.join(AGENT, "helper.bin" if kind == "parcel" else "count_hooks.bin"), "rb") as file:
        code = bytearray(file.read())
    layout = json.loads(subprocess.check_output([os.path.join(FOLDER, "count_inject_tool"), "layout"]))
    victim = take(4096)
    base = take(layout["range"])
    words = ctypes.cast(victim, ctypes.POINTER(ctypes.c_uint64))
    words[0] = MARK
    if kind != "parcel":
        hook = struct.unpack_from("=I", code, layout["offsets"])[0]
        if kind != "foreign":  # the place leads to a hook and is to be "put back"
            words[0] = base + hook
        struct.pack_into("=QQQ", code, layout["owner"], 0x7ffffff, 1, os.stat("/proc/self/ns/pid").st_ino)
        struct.pack_into("=QIIQ", code, layout["gates"], victim + 2048 if kind == "gates" else 0, 1,
                         layout["range"], 0)
        record = struct.pack("=QQ", victim, 0xbad)
        ctypes.memmove(base + layout["records"], record, len(record))
        # gates in writable memory
        ctypes.memmove(victim + 2048, struct.pack("=II", 0x4743534d, 2), 8)
    ctypes.memmove(base, bytes(code), len(code))
    libc.mprotect(base, layout["range"], READ_EXEC)
    inside = take(4096, base + (layout["private"] - 8192 if kind != "parcel" else 16384))
    ctypes.cast(inside, ctypes.POINTER(ctypes.c_uint64))[0] = MARK
    if kind == "whole":  # pretend that the whole range belongs to the hooks
        libc.mprotect(inside, 4096, READ_EXEC)
    before = words[0]
    print("ready", flush=True)
    poll = select.poll()
    poll.register(0)
    while not poll.poll(20):
        pass
    print(json.dumps({"is_same": words[0] == before,
                      "inside": ctypes.cast(inside, ctypes.POINTER(ctypes.c_uint64))[0] == MARK,
                      "code": ctypes.string_at(base, len(code)) == bytes(code)}))


class Faker:
    def __init__(self, kind):
        self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "fake", kind],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        equal(self.process.stdout.readline(), b"ready\n", "first line of the faking process")
        self.pid = self.process.pid

    def check_untouched(self):
        check(read_proc(self.pid, "stat"), "the faking process has ended")
        out = self.process.communicate(b"\n", timeout=TIMEOUT)[0]
        equal(self.process.returncode, 0, "exit status of the faking process")
        equal(json.loads(out), {"is_same": True, "inside": True, "code": True}, "memory of the faking process")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()


def run_count(pid):
    status, cycles = end_tool(count_inject_lib.start_tool(pid))
    equal(status, 0, "status of the tool")
    check(cycles[0]["open"] == 0 or cycles[0]["open_reason"], f"no reason is given: {cycles[0]}")
    return cycles[0]


@test
def hooks_with_foreign_memory_in_their_range_are_not_unmapped():
    with Faker("foreign") as faker:
        equal(run_count(faker.pid)["open"], 0, "counting")
        faker.check_untouched()


@test
def addresses_named_by_the_process_are_not_written():
    with Faker("whole") as faker:
        check(run_count(faker.pid)["open"] != 0, "hooks that are still in use were removed")
        faker.check_untouched()


@test
def writable_gates_are_not_trusted():
    with Faker("gates") as faker:
        run_count(faker.pid)
        faker.check_untouched()


@test
def a_segment_with_the_helpers_code_alone_is_not_trusted():
    with Faker("parcel") as faker:
        cycle = inject_lib.tool(faker.pid)[0]
        check(cycle["open"] == 0 or cycle["open_reason"], f"no reason is given: {cycle}")
        faker.check_untouched()


if sys.argv[1:2] == ["fake"]:
    fake(sys.argv[2])
else:
    run()
