# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs and libraries of a target with deliberately damaged ELF and DWARF data.

usage: hostile_elf.py [COUNT]: damage this many copies in each test (default 12)
"""

import os
import random
import struct
import subprocess
import sys

from live import MEMSTATE, TIMEOUT, Folder, check, memstate, run, test

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 12
TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
SECTION_SIZE = 64  # of Elf64_Shdr
SYMBOLS = (2, 3, 7, 11)  # SHT_SYMTAB, SHT_STRTAB, SHT_NOTE, SHT_DYNSYM
BYTES = (0, 0x7f, 0x80, 0xff)


class Elf:
    """An ELF file to damage copies of; the original stays unchanged."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.section_at, = struct.unpack_from("<Q", self.data, 40)
        self.section_count, names = struct.unpack_from("<HH", self.data, 60)
        headers = [struct.unpack_from("<IIQQQQ", self.data, self.section_at + SECTION_SIZE * i)
                   for i in range(self.section_count)]
        self.sections = {}
        for name, kind, _, _, offset, size in headers:
            start = headers[names][4] + name
            text = self.data[start:self.data.index(b"\0", start)].decode()
            if kind != 8 and size > 0:  # SHT_NOBITS has no bytes
                self.sections[text] = (kind, offset, size)

    def places(self, rng, how):
        if how == "header":
            return 0, 64
        if how == "programs":
            return 64, 56 * 13
        if how == "sections":
            return self.section_at, SECTION_SIZE * self.section_count
        chosen = [s for name, s in self.sections.items()
                  if (how == "symbols" and s[0] in SYMBOLS) or
                  (how == "debug" and name.startswith((".debug", ".symtab", ".strtab")))]
        _, offset, size = rng.choice(chosen or list(self.sections.values()))
        return offset, size

    def damaged(self, rng, how, may_cut=False):
        data = bytearray(self.data)
        for _ in range(rng.choice((1, 3, 20, 200))):
            start, size = self.places(rng, how)
            at = start + rng.randrange(size)
            if at < len(data):
                data[at] = rng.choice(BYTES + (rng.randrange(256),))
        if may_cut and rng.random() < 0.1:
            del data[rng.randrange(1, len(data)):]
        return bytes(data)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o755)


def check_ends_well(result, what):
    check(result.status in (0, 1, 3), f"{what}: status {result.status}: {result.err!r}")


@test
def a_damaged_file_that_a_target_maps_is_read_as_far_as_it_goes():
    elf = Elf(os.path.join(TARGETS, "elf_target"))
    with Folder() as folder:
        path = os.path.join(folder, "damaged")
        for i in range(COUNT):
            rng = random.Random(i)
            how = ("header", "programs", "sections", "symbols", "any")[i % 5]
            write(path, elf.damaged(rng, how, may_cut=True))
            with subprocess.Popen([os.path.join(TARGETS, "elf_target"), path],
                                  stdout=subprocess.PIPE) as target:
                try:
                    check(target.stdout.readline() == b"ready\n", f"{i}: the target does not start")
                    for args in (["heap"], ["leaks"], ["map"],
                                 ["count", "-n", "1", "-i", "20ms", "--stacks"]):
                        check_ends_well(memstate(*args, "-p", target.pid), f"{args} {how} {i}")
                        check(target.poll() is None, f"{args} {how} {i}: the target has ended")
                finally:
                    target.kill()


@test
def a_command_with_damaged_symbols_and_debug_information_is_counted():
    elf = Elf(os.path.join(TARGETS, "profile_target"))
    with Folder() as folder:
        path = os.path.join(folder, "damaged")
        for i in range(COUNT):
            rng = random.Random(i)
            how = ("debug", "sections")[i % 2]
            write(path, elf.damaged(rng, how))
            plain = subprocess.run([path, "--help"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, timeout=TIMEOUT)
            done = subprocess.run([MEMSTATE, "count", "--stacks", "--live", "--", path, "--help"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT)
            check(done.returncode in (plain.returncode, 3),
                  f"{how} {i}: status {done.returncode}, alone {plain.returncode}: {done.stderr!r}")


run()
