# SPDX-License-Identifier: GPL-2.0-or-later
"""Hand-crafted hostile recordings: they never crash memstate, make it hang, or run
code in it."""

import os
import shutil
import sqlite3
import struct
import subprocess

from live import MEMSTATE, MIB, Folder, Skip, Target, check, equal, memstate, run, test

SECONDS = 60  # only a hang takes this long


def make_good(folder, pid):
    path = f"{folder}/good"
    result = memstate("--csv", "--heap", "off", "-n", 3, "-i", "20ms", "-p", pid, "--record", path)
    if b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
        raise Skip("without SQLite")
    result.must_be(0)
    return path


def change(good, path, sql):
    """Copy the recording and change the copy with SQL."""
    shutil.copy(good, path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        db.executescript(sql)
    db.close()


def behind_its_back(table, old, new, sql):
    """Change a column's declaration while running the SQL, so that the file
    then looks untouched."""
    def replace(a, b):
        return (f"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql=replace(sql,'{a}','{b}') "
                f"WHERE name='{table}'; PRAGMA writable_schema=RESET;")
    return replace(old, new) + sql + replace(new, old)


def commands(path, good):
    yield ["--replay", path, "--csv", "--output-all"]
    yield ["--replay", path, "--text"]
    yield ["--replay", path, "--html", f"{path}.html"]
    yield ["oom", "explain", "--record", path]
    yield ["diff", good, path]
    yield ["--record", path, "--csv", "-n1", "-p", str(os.getpid())]


def run_one(args):
    done = subprocess.run([MEMSTATE, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=SECONDS, check=False)
    check(done.returncode in (0, 1), f"{args}: ended with {done.returncode}: {done.stderr!r}")
    return done


def refused(path, args, word):
    done = run_one(args)
    equal(done.returncode, 1, f"status of {args}: {done.stderr!r}")
    equal(done.stdout, b"", f"output of {args}")
    equal(done.stderr.count(b"\n"), 1, f"lines of {done.stderr!r}")
    check(done.stderr.startswith(f"memstate: {path}: {word}".encode()), done.stderr)
    check(b"\x1b" not in done.stderr, done.stderr)


OTHER_SCHEMAS = {
    "view": "ALTER TABLE sample RENAME TO s; CREATE VIEW sample AS WITH RECURSIVE c(x) AS (SELECT 1 "
            "UNION ALL SELECT x+1 FROM c) SELECT x AS sample,1 AS session,1 AS unix_ms,1 AS "
            "elapsed_us,1 AS cost_us FROM c",
    "view instead": "DROP TABLE event; CREATE VIEW event AS SELECT 1 AS event,1 AS sample,1 AS unix_ms,"
                    "NULL AS kind,1 AS pid,'x' AS text",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON sample BEGIN INSERT INTO name(text) WITH RECURSIVE n(i)"
               " AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT 'x'||i FROM n; END",
    "index": "CREATE INDEX i ON sample(unix_ms)",
    "another table": "CREATE TABLE \"a\x1b[31m\"(x)",
    "statistics": "ANALYZE",
    "a table less": "DROP TABLE cgroup",
    "a column more": "ALTER TABLE event ADD COLUMN more",
    "a generated column": "ALTER TABLE event ADD COLUMN g INTEGER GENERATED ALWAYS AS (pid+1) VIRTUAL",
    "NULL allowed": "DROP TABLE event; CREATE TABLE event(event INTEGER PRIMARY KEY, sample, unix_ms, "
                    "kind, pid, text); INSERT INTO event VALUES(1,1,1,NULL,1,'x')",
    "a virtual table": "CREATE VIRTUAL TABLE v USING rtree(id,a,b)",
}


@test
def every_command_refuses_foreign_tables():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        good = make_good(folder, target.pid)
        for name, sql in OTHER_SCHEMAS.items():
            path = f"{folder}/hostile"
            try:
                change(good, path, sql)
            except sqlite3.OperationalError as error:
                check("no such module" in str(error), f"{name}: {error}")
                continue
            with open(path, "rb") as f:
                before = f.read()
            for args in commands(path, good):
                refused(path, args, "damaged: ")
            with open(path, "rb") as f:
                check(f.read() == before, f"{name}: the file has changed")


# Values that a table's declaration does not allow, or that memstate never writes.
WRONG_VALUES = {
    "no kind": behind_its_back("event", "kind TEXT NOT NULL", "kind TEXT",
                               "INSERT INTO event VALUES(1,1,1,NULL,1,'x');"),
    "a kind that is a number": "INSERT INTO event VALUES(1,1,1,x'01',1,2.5)",
    "a sample near 2^63": "UPDATE sample SET sample=9223372036854775807 WHERE sample=3",
    "a sample near -2^63": "UPDATE sample SET sample=-9223372036854775807 WHERE sample=1",
    "a session near 2^63": "UPDATE sample SET session=9223372036854775807 WHERE sample=3",
    "time that runs backwards": "UPDATE sample SET elapsed_us=9000000000-sample",
    "a time that overflows": "UPDATE sample SET elapsed_us=9223372036854775000 WHERE sample=3",
    "a year beyond 9999": "UPDATE sample SET unix_ms=9223372036854775807",
    "a time that is a text": "UPDATE sample SET unix_ms='noon'",
    "a process without a pid": "UPDATE process SET pid=-5",
    "a pid that is a text": "UPDATE process SET pid='abc'",
    "a name that is a number": "UPDATE process SET comm=7.5",
    "no name": behind_its_back("process", "comm BLOB NOT NULL", "comm BLOB",
                               "UPDATE process SET comm=NULL;"),
    "figures that are texts": "UPDATE state SET source='zz', threads=x'00ff'",
    "amounts that are texts": "UPDATE usage SET rss_kb='many'",
    "a mapping that ends before it begins": "UPDATE mapping SET end=1",
    "a note without a kind": "INSERT INTO note SELECT process,'',x'61' FROM process",
    "a name of 60 MB": "UPDATE process SET command=zeroblob(60000000)",
}


@test
def values_of_a_wrong_type_or_out_of_range_are_refused():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        good = make_good(folder, target.pid)
        path = f"{folder}/hostile"
        for name, sql in WRONG_VALUES.items():
            change(good, path, sql)
            done = run_one(["oom", "explain", "--record", path])
            equal(done.returncode, 1, f"{name}: {done.stderr!r}")
            check(done.stderr.startswith(f"memstate: {path}: damaged: ".encode()),
                  f"{name}: {done.stderr!r}")
            for args in commands(path, good):
                run_one(args)


@test
def a_recording_of_an_earlier_version_is_read_and_continued():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        good = make_good(folder, target.pid)
        path = f"{folder}/earlier"
        change(good, path, "DROP TABLE note; DROP TABLE heap_part; PRAGMA user_version=1")
        equal(len(memstate("--replay", path, "--csv").must_be(0).rows()), 3, "samples")
        memstate("--csv", "--heap", "off", "-n1", "-p", target.pid, "--record", path).must_be(0)
        equal(len(memstate("--replay", path, "--csv").must_be(0).rows()), 4, "samples")


@test
def impossible_amounts_are_unknown():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        good = make_good(folder, target.pid)
        path = f"{folder}/hostile"
        change(good, path, "UPDATE usage SET rss_kb=9223372036854775807, pss_kb=-1; UPDATE mapping SET "
               "rss_kb=9223372036854775807; UPDATE state SET threads=9223372036854775807, state=27, "
               "source=2, uid=-1, error=99999")
        rows = memstate("--replay", path, "--csv", "--output-all").must_be(0).rows()
        equal([row["rss_bytes"] for row in rows], [None] * 3, "Rss")
        for args in commands(path, good):
            check(b"\x1b" not in run_one(args).stdout, args)


def make_maze(path, table, depth=12):
    """Make all inner pages of a table's tree lead to one page: more rows than can
    ever be counted."""
    with sqlite3.connect(path) as db:
        root, = db.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (table,)).fetchone()
        size, = db.execute("PRAGMA page_size").fetchone()
        pages, = db.execute("PRAGMA page_count").fetchone()
    db.close()
    with open(path, "r+b") as f:
        f.seek((root - 1) * size)
        leaf = f.read(size)
        for level in range(depth):
            at = root if level == 0 else pages + level
            child = pages + level + 1
            cells = b"".join(struct.pack(">IB", child, 1) for _ in range(100))
            start = size - len(cells)
            page = struct.pack(">BHHHBI", 5, 0, 100, start, 0, child)
            page += b"".join(struct.pack(">H", start + 5 * i) for i in range(100))
            f.seek((at - 1) * size)
            f.write(page.ljust(start, b"\0") + cells)
        f.seek((pages + depth - 1) * size)
        f.write(leaf)
        f.seek(28)
        f.write(struct.pack(">I", pages + depth))


@test
def an_endless_index_is_refused():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        good = make_good(folder, target.pid)
        path = f"{folder}/hostile"
        for table in ("sample", "process", "event"):
            change(good, path, "INSERT INTO event VALUES(1,1,1,'gap',NULL,NULL)")
            make_maze(path, table)
            done = run_one(["oom", "explain", "--record", path])
            equal(done.returncode, 1, f"{table}: {done.stderr!r}")
            check(done.stderr.startswith(f"memstate: {path}: damaged: ".encode()), done.stderr)
            for args in commands(path, good):
                run_one(args)


@test
def special_files_are_not_waited_for():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        make_good(folder, target.pid)
        path = f"{folder}/fifo"
        os.mkfifo(path)
        for name in (path, folder, "/dev/null"):
            for args in (["--replay", name, "--csv"], ["oom", "explain", "--record", name],
                         ["--record", name, "--csv", "-n1", "-p", str(os.getpid())]):
                refused(name, args, "not a memstate recording")


run()
