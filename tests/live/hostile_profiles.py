# SPDX-License-Identifier: GPL-2.0-or-later
"""Hand-crafted hostile profiles: memstate rejects them with a reason, in bounded
time and memory."""

import gzip
import resource
import subprocess

from live import MEMSTATE, MIB, Folder, check, equal, need_small_address_space, run, test

SECONDS = 100  # only a hang takes this long
ROOM = 4096 * MIB
DEPTH = 100000


def diff(before, after, *args):
    return subprocess.run([MEMSTATE, "diff", before, after, *args], stdin=subprocess.DEVNULL,
                          check=False, capture_output=True, timeout=SECONDS,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)))


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def refused(path, good, words):
    done = diff(path, good)
    equal(done.returncode, 1, f"status: {done.stderr!r}")
    equal(done.stdout, b"", "output")
    equal(done.stderr.count(b"\n"), 1, f"lines of {done.stderr!r}")
    check(done.stderr.startswith(f"memstate: {path}: ".encode()), done.stderr)
    check(any(word in done.stderr for word in words), done.stderr)


@test
def a_gzip_bomb_is_refused():
    need_small_address_space()
    with Folder() as folder:
        good = write(f"{folder}/good", b"main;f 1\n")
        parts = gzip.compress(b"\0" * MIB)
        without = b"zlib is not available"
        refused(write(f"{folder}/bomb", parts * 600), good, [b"512 MiB", without])
        refused(write(f"{folder}/cut", parts[:500]), good, [b"damaged", without])
        refused(write(f"{folder}/empty", gzip.compress(b"") * 100000), good, [b"empty", without])


@test
def a_stack_of_any_depth_is_compared_and_drawn():
    need_small_address_space()
    with Folder() as folder:
        deep = write(f"{folder}/deep", b";".join(b"f%d" % i for i in range(DEPTH)) + b" 5\n")
        same = write(f"{folder}/same", b";".join([b"f"] * DEPTH) + b" 5\n")
        for args in ([], ["--json"], ["--flame-graph", f"{folder}/x.html"],
                     ["--flame-graph", f"{folder}/x.svg"]):
            for pair in ((deep, same), (same, same)):
                done = diff(*pair, *args)
                equal(done.returncode, 0, f"{args}: {done.stderr!r}")


@test
def unbounded_numbers_in_a_profile_are_refused():
    need_small_address_space()
    top = 2**64 - 1
    types = field(1, field(1, 1) + field(2, 2))
    names = b"".join(field(6, name) for name in (b"", b"space", b"bytes", b"f"))
    function = field(5, field(1, 1) + field(2, 3))
    place = field(4, field(1, 1) + field(4, field(1, 1) + field(2, top)))
    whole = types + names + function + place
    bodies = {
        "a location that there is not": field(2, field(1, top) + field(2, 1)),
        "a value that is negative": field(2, field(1, 1) + field(2, top)),
        "values that add up to too much": field(2, field(1, 1) + field(2, 2**63 - 1)) * 3,
        "a name that there is not": field(5, field(1, 2) + field(2, top)),
        "a length beyond the end": varint(2 << 3 | 2) + varint(2**62),
        "a number that never ends": varint(2 << 3) + b"\xff" * 40,
        "messages in messages": varint(2 << 3 | 2) * 1000,
    }
    with Folder() as folder:
        good = write(f"{folder}/good", b"main;f 1\n")
        for name, body in bodies.items():
            done = diff(write(f"{folder}/hostile", whole + body), good)
            equal(done.returncode, 1, f"{name}: {done.stderr!r}")
            equal(done.stderr.count(b"\n"), 1, f"{name}: {done.stderr!r}")


run()
