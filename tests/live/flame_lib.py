# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded stacks with known properties, and flame graphs of them."""

import atexit
import collections
import functools
import os
import shutil
import tempfile

from live import memstate

STACKS = """\
main;parse;read_line;malloc 40
main;parse;read_line;grow;realloc 25
main;parse 5
main;emit;std::string::append(char const*);operator new(unsigned long) 60
main;emit;write_line;malloc 10
main;run;main;emit;malloc 8
start;thread;parse;malloc 32
start;thread;[libz.so.1];calloc 20
"""
AFTER = """\
main;parse;read_line;malloc 10
main;parse;read_line;grow;realloc 25
main;parse 5
main;emit;std::string::append(char const*);operator new(unsigned long) 90
main;emit;write_line;malloc 10
start;thread;parse;malloc 32
start;thread;trace;malloc 48
"""
HOSTILE = ["</script><script>window.pwned = 1</script>", "<img src=x onerror='window.pwned=1'>", "]]>",
           "\"'`&amp${1}\\u003c", "<!--", "__proto__", "constructor", "日本語のとても長い関数の名前です",
           "a\u202eb\x1b[31m", "javascript:alert(1)", "&lt&gt", "\\x0a", "x" * 3000]

folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder, ignore_errors=True)


def read(text):
    """Return a dict from stack, outermost first, to number."""
    stacks = collections.Counter()
    for line in text.splitlines():
        path, number = line.rsplit(" ", 1)
        stacks[tuple(path.split(";"))] += int(number)
    return stacks


def text_of(stacks):
    return "".join(f"{';'.join(path)} {number}\n" for path, number in stacks.items())


def total(stacks, path=()):
    """Return the sum over all stacks that begin with this path."""
    return sum(n for other, n in stacks.items() if other[:len(path)] == tuple(path))


def by_function(stacks):
    """Return a dict from function to (self, total)."""
    found = collections.defaultdict(lambda: [0, 0])
    for path, number in stacks.items():
        for name in set(path):
            found[name][1] += number
        found[path[-1]][0] += number
    return {name: tuple(sums) for name, sums in found.items()}


PPROF_TYPES = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
               ("inuse_space", "bytes")]
PPROF_METRICS = ["allocations", "bytes", "live_blocks", "live"]


def pprof(stacks):
    """Encode a pprof profile (profile.proto) from a dict from stack to four numbers."""
    strings = [""]

    def number_of(text):
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    def varint(value):
        made = b""
        while value > 127:
            made += bytes([value & 127 | 128])
            value >>= 7
        return made + bytes([value])

    def field(number, value):
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    names = sorted({name for path in stacks for name in path})
    made = b"".join(field(1, field(1, number_of(kind)) + field(2, number_of(unit)))
                    for kind, unit in PPROF_TYPES)
    for path, values in stacks.items():
        places = (varint(names.index(name) + 1) for name in reversed(path))
        made += field(2, field(1, b"".join(places)) +
                      field(2, b"".join(varint(value) for value in values)))
    for i, name in enumerate(names, 1):
        made += field(4, field(1, i) + field(4, field(1, i)))
        made += field(5, field(1, i) + field(2, number_of(name)))
    return made + b"".join(field(6, text.encode()) for text in strings)


def hostile_text():
    return "".join(f"main;{name};malloc {10 + i}\n" for i, name in enumerate(HOSTILE)) + \
        "main;\udcff\udcfe;malloc 3\n"


def shown(name):
    """Return the name as memstate shows it, with characters that move or
    hide text escaped."""
    return name.replace("\u202e", "\\xe2\\x80\\xae").replace("\x1b", "\\x1b")


@functools.lru_cache(maxsize=None)
def graph(ending, *texts):
    """Return the path of a flame graph of these stacks, or of the
    difference between two."""
    number = len(os.listdir(folder))
    names = []
    for i, text in enumerate(texts):
        names.append(os.path.join(folder, f"{number}-{i}.folded"))
        with open(names[-1], "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
    out = os.path.join(folder, f"{number}.{ending}")
    args = ["count", "--replay", *names] if len(names) == 1 else ["diff", *names]
    memstate(*args, "--flame-graph", out).must_be(0)
    return out
