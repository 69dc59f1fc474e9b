# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes choose their own names. Names appear as documented, whatever they contain,
and never control a terminal or break a file format."""

import os
import subprocess
import sys

from live import (Folder, Target, check, equal, json_rows, memstate, run, test)

# comm, and how CSV and JSON show it (render/table/output.h)
COMMS = [
    (b"a) b) S 1 1", "a) b) S 1 1", "a) b) S 1 1"),
    (b'a,"b",c', 'a,"b",c', 'a,"b",c'),
    (b"two\nlines", "two\nlines", "two\nlines"),
    (b"cr\rlf\r\n", "cr\rlf\r\n", "cr\rlf\r\n"),
    (b"\x1b[31mred\x07", "\\x1b[31mred\\x07", "\x1b[31mred\x07"),
    (b"bad \xff\xfe utf", "bad \\xff\\xfe utf", "bad \\xff\\xfe utf"),
    ("grün €".encode(), "grün €", "grün €"),
    (b"back\\slash", "back\\slash", "back\\slash"),
    (b"\t tab", "\\x09 tab", "\t tab"),
    (b" ", " ", " "),
    (b"=1+1", "=1+1", "=1+1"),
]

PATHS = [
    (b"plain", "plain", "plain"),
    (b"new\nline", "new\\012line", "new\\012line"),  # the kernel's own escape sequence
    (b"esc\x1b]0;title\x07", "esc\\x1b]0;title\\x07", "esc\x1b]0;title\x07"),
    (b"not gone (deleted)", "not gone (deleted)", "not gone (deleted)"),
    (b"bad \xc3\x28 \xff", "bad \\xc3( \\xff", "bad \\xc3( \\xff"),
    (b'quote " comma , blank ', 'quote " comma , blank ', 'quote " comma , blank '),
    ("bidi \u202e and \u2028".encode(), "bidi \\xe2\\x80\\xae and \\xe2\\x80\\xa8",
     "bidi \u202e and \u2028"),
]


def is_printable(text):
    return all(c == "\n" or (c.isprintable() and c not in "\u202e\u2028") for c in text)


def check_text_is_harmless(pid):
    for args in (["--text"], ["--text", "-o", "pid,comm,rss_bytes"], ["--text", "-t"]):
        for locale in ("C", "C.UTF-8"):
            out = memstate("-p", pid, *args, env=dict(os.environ, LC_ALL=locale)).must_be(0).out
            check(is_printable(out.decode()), f"{args}: {out!r}")
            check(locale != "C" or out.isascii(), f"not ASCII in the C locale: {out!r}")
            check("-o" not in args or out.count(b"\n") == 2, f"not two lines: {out!r}")


@test
def process_names_are_complete_in_csv_and_json():
    for raw, in_csv, in_json in COMMS:
        with Target("name", raw, is_stopped=True) as target:
            args = ["-p", target.pid, "-n1", "-o", "pid,comm,rss_bytes"]
            rows = memstate(*args, "--csv").must_be(0).rows()
            equal([row["comm"] for row in rows], [in_csv], f"CSV of {raw}")
            rows = json_rows(memstate(*args, "--json").must_be(0).out)
            equal([p["comm"] for p in rows[0]["processes"]], [in_json], f"JSON of {raw}")
            # when all processes are listed, the name comes from libproc2
            rows = memstate("--csv", "-n1", "-o", "pid,comm,rss_bytes").rows()
            equal([row["comm"] for row in rows if row["pid"] == target.pid], [in_csv],
                  f"CSV of {raw} among all")
            check_text_is_harmless(target.pid)


@test
def mapping_paths_are_complete_in_csv_and_json():
    for raw, in_csv, in_json in PATHS:
        with Folder() as folder:
            with Target("name", "paths", os.path.join(os.fsencode(folder), raw),
                        is_stopped=True) as target:
                start = f"{target.truth['start']:x}"
                rows = memstate("map", "-p", target.pid, "--csv").must_be(0).rows()
                name = [row["name"] for row in rows if row["start_addr"] == start]
                equal(name, [os.path.join(folder, in_csv)], f"CSV of {raw}")
                rows = json_rows(memstate("map", "-p", target.pid, "--json").must_be(0).out)
                name = [m["name"] for m in rows[0]["mappings"] if m["start_addr"] == "0x" + start]
                equal(name, [os.path.join(folder, in_json)], f"JSON of {raw}")
                check_text_is_harmless(target.pid)
                out = memstate("map", "-p", target.pid).must_be(0).out
                check(is_printable(out.decode()), f"map: {out!r}")


@test
def a_command_line_cannot_control_a_terminal_or_break_a_row():
    argument = b"\x1b[2J\n\xff,\""
    with subprocess.Popen([sys.executable, "-c", "print(flush=True); input()", argument],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            args = ["-p", process.pid, "-o", "pid,command"]
            row = memstate(*args, "--csv", "-n1").must_be(0).rows()[0]
            check(row["command"].endswith(' \\x1b[2J\n\\xff,"'), row["command"])
            equal(memstate(*args, "--text").must_be(0).out.count(b"\n"), 2, "lines")
            check_text_is_harmless(process.pid)
        finally:
            process.kill()


@test
def a_message_about_a_name_cannot_control_a_terminal():
    result = memstate("-p", "\x1b[31mno such\nname", "--csv").must_be(1)
    equal(len(result.errors()), 1, "lines of the message")
    check(is_printable(result.err.decode()), f"{result.err!r}")


run()
