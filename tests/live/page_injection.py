#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No name from a process, container, file or profile becomes code or markup in a
page or picture."""

import contextlib
import os
import shutil
import sqlite3

from browser_lib import Browser
from live import MIB, Folder, Skip, Target, check, equal, memstate, need_built_with, run, test

# Each payload would set window.pwned, close an element, or change how the following
# text is parsed.
PAYLOADS = ["</script><img src=x onerror=window.pwned=1>", "\"><svg/onload=window.pwned=1>",
            "'];window.pwned=1;//", "]]><script>window.pwned=1</script>", "<!--<script>", "\u2028window.pwned=1\u2029",
            "${window.pwned=1}`\\", "&lt;b&gt;&#60;i&#62;", "a\u202eb\u2066c\u200bd", "</title></style></svg><b>",
            "javascript:window.pwned=1", "__proto__"]
INVALID = b"\xff\xfe\xc0\x80\xed\xa0\x80<b>\xf4\x90\x80\x80"
ALL = "".join(PAYLOADS)


def copy_process(db, number, comm, command):
    """Copy the first process under another name."""
    db.execute("INSERT INTO process SELECT ?,session,?,start_ticks,?,? FROM process ORDER BY process LIMIT 1",
               (1000 + number, 100000 + number, comm, command))
    for table in ("state", "usage", "usage_more", "mapping"):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "process"]
        db.execute(f"INSERT INTO {table}(process,{','.join(columns)}) SELECT ?,{','.join(columns)} FROM {table} "
                   "WHERE process=(SELECT min(process) FROM process)", (1000 + number,))


def fill(path):
    """Put hostile names that no live process could have into all text columns
    of a recording."""
    hostile = ALL.encode()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        sample, unix_ms = db.execute("SELECT sample, unix_ms FROM sample ORDER BY sample DESC").fetchone()
        for i, payload in enumerate([*[p.encode() for p in PAYLOADS], INVALID]):
            copy_process(db, i, payload, payload + b" " + hostile)
            db.execute("INSERT INTO event(sample,unix_ms,kind,pid,text) VALUES(?,?,?,?,?)",
                       (sample, unix_ms, "oom_kill" if i else ALL, 100000 + i, payload))
            db.execute("INSERT INTO note VALUES(?,?,?)", (1000 + i, "pod", payload))
        db.execute("UPDATE name SET text=? || text WHERE name=(SELECT min(name) FROM name)", (hostile,))
        names = [hostile] * 8
        db.execute("INSERT INTO cgroup VALUES(1,1,2,0,?,?,?,?,?,?,?,?,?)",
                   (b"/" + hostile.replace(b"\n", b"") + b"/x\n/" + INVALID + b"\n/\n", *names))
        for level in range(3):
            db.execute("INSERT INTO cgroup_level(cgroup,level,sample,flags,usage,limit_bytes) VALUES(1,?,1,0,1000,2000)",
                       (level,))
            db.execute("INSERT INTO cgroup_stat(cgroup,level,sample,anon) VALUES(1,?,1,500)", (level,))
        db.execute("INSERT INTO cgroup_more(cgroup,sample,group_count,slack,hidden_limit) VALUES(1,1,1,0,-1)")


def varint(number):
    made = b""
    while number > 127:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile():
    """Return a pprof profile whose functions, source files, modules and comments
    have hostile names."""
    names = [b"", b"alloc_objects", b"count", ALL.encode(), INVALID, *[p.encode() for p in PAYLOADS]]
    made = field(1, field(1, 1) + field(2, 2)) + field(13, 3)
    for i in range(1, len(names)):
        made += field(2, field(1, varint(i)) + field(2, varint(100 + i)))
        made += field(3, field(1, i) + field(2, i * 4096) + field(3, i * 4096 + 4096) + field(5, i))
        made += field(4, field(1, i) + field(2, i) + field(3, i * 4096 + 8) +
                      field(4, field(1, i) + field(2, 7)))
        made += field(5, field(1, i) + field(2, i) + field(3, i) + field(4, i))
    return made + b"".join(field(6, name) for name in names)


def check_page(b, path, words=PAYLOADS):
    """Check that no script ran, nothing was loaded, no name became markup, and the
    text is present."""
    b.errors.clear()
    b.open(path)
    b.run("new Promise(resolve => setTimeout(resolve, 0))")
    equal(b.errors, [], f"errors of {path}")
    check(b.run("window.pwned === undefined && ({}).pwned === undefined"), "a script in a name ran")
    for selector in ("img", "b", "i", "iframe", "[onerror]", "[onload]", "a[href^='javascript:']", "[src]"):
        equal(b.run(f"document.querySelectorAll(\"{selector}\").length"), 0, f"{selector} in {path}")
    text = b.run("document.documentElement.textContent + ' ' + document.title")
    for word in words:
        check(word in text, f"{word!r} is not in {path}")
    visible = b.run("document.body ? document.body.innerText : document.documentElement.textContent")
    for hidden in "\u202e\u2066\u2028\u2029":
        check(hidden not in visible, f"U+{ord(hidden):04x} in {path}")


SEEN = ["</script><img src=x onerror=window.pwned=1>", "]]><script>window.pwned=1</script>", "${window.pwned=1}`"]


@test
def names_in_a_recording_are_text_in_its_page():
    with Folder() as folder, Target("unbacked", 2 * MIB, MIB, is_stopped=True) as target, Browser() as b:
        path = f"{folder}/r'\"><img src=x onerror=window.pwned=1>"
        result = memstate("-p", target.pid, "--csv", "--heap", "off", "-i", "20ms", "-n", 3, "--record", path)
        if b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
            raise Skip("built without SQLite")
        result.must_be(0)
        fill(path)
        for i, args in enumerate((["--html"], ["oom", "--html"])):
            page = os.path.abspath(f"{folder}/{i}.html")
            memstate(*args, page, "--replay", path).must_be(0)
            check_page(b, page, SEEN)


@test
def names_in_a_profile_are_text_in_a_flame_graph():
    need_built_with("PPROF")
    with Folder() as folder, Browser() as b:
        source = f"{folder}/'\"><img src=x onerror=window.pwned=1>.pb"
        other = f"{folder}/]]><b>.folded"
        with open(source, "wb") as f:
            f.write(profile())
        with open(other, "wb") as f:
            for payload in (*[p.encode() for p in PAYLOADS], INVALID):
                f.write(b"main;" + payload.replace(b";", b",") + b" 7\n")
        for ending in ("html", "svg"):
            page = os.path.abspath(f"{folder}/page.{ending}")
            for command in (["count", "--replay", source], ["count", "--replay", other], ["diff", other, source]):
                memstate(*command, "--flame-graph", page).must_be(0)
                check_page(b, page, [])
                # the page shows names of boxes on hover, and not at all where a box
                # is too narrow
                check(b.run("document.documentElement.outerHTML.includes('onerror=window.pwned')"),
                      f"the name is missing in {page}")


@test
def names_of_variants_and_arguments_are_text_in_a_comparison():
    libc = next((line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libm.so" in line or
                 "/libz.so" in line), None)
    if not libc:
        raise Skip("no library to preload")
    with Folder() as folder, Browser() as b:
        library = f"{folder}/'\"><b><img>]]>\u202e.so"
        shutil.copy(libc, library)
        page = os.path.abspath(f"{folder}/page.html")
        result = memstate("--preload", f"glibc,{os.path.abspath(library)}", "--runs", 2, "--warm-up", 0, "--html", page,
                          "--", "sleep", "0.05", env={**os.environ, "LC_ALL": "C.UTF-8"})
        if not os.path.exists(page):
            raise Skip(f"no page was written: {result.err[:200]!r}")
        check_page(b, page, [])


run()
