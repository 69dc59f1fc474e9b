# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording replays what was shown live, however the recorder ended."""

import os
import re
import signal
import sqlite3

from heap_lib import HeapTarget
from live import MIB, Folder, Skip, Target, check, equal, memstate, run, start_memstate, test

# figures that are not facts of the process, or are not recorded
OTHER = ["referenced_bytes", "read_s"]


def record(path, *args):
    result = memstate(*args, "--csv", "--heap", "off", "--output-all", "--record", path)
    if b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
        raise Skip("built without SQLite")
    return result.must_be(0).rows()


def replay(path, *args):
    return memstate("--replay", path, "--csv", "--output-all", *args).must_be(0).rows()


def same_rows(got, wanted):
    """Compare rows. Mappings are recorded as often as their cost allows, always in
    the first sample.

    In samples without mappings, the figures derived from them must be
    unknown, never different.
    """
    equal(len(got), len(wanted), "rows")
    for g, w in zip(got, wanted):
        for name in w:
            if name not in OTHER and (g[name] is not None or g["mappings"] is not None):
                equal(g[name], w[name], f"{name} of {w['pid']} at {w['time']}")
    check(got[0]["mappings"] is not None, "the first sample has no mappings")


@test
def a_replay_shows_the_live_rows():
    with Folder() as folder, Target("unbacked", 8 * MIB, 6 * MIB, is_stopped=True) as one, \
            Target("lazyfree", 4 * MIB, 3 * MIB, 0, is_stopped=True) as two:
        path = f"{folder}/r"
        live = record(path, "-p", f"{one.pid},{two.pid}", "-i", "50ms", "-n", 5)
        same_rows(replay(path), live)
        same_rows(replay(path, "-p", two.pid), [row for row in live if row["pid"] == two.pid])
        same_rows(replay(path, "-n", 2), live[:4])
        same_rows(replay(path, "--at", "+0s"), live[:2])
        equal([row["time"] for row in replay(path, "--at", live[4]["time"])],
              [row["time"] for row in live[4:6]], "times of the replayed samples")
        check(sum(r["lazyfree_bytes"] for r in live) >= 5 * 3 * MIB, "no LazyFree in the live rows")


@test
def a_replay_shows_the_times_of_a_fast_series():
    with Folder() as folder, Target("unbacked", MIB, MIB, is_stopped=True) as target:
        for _ in range(3):
            live = record(f"{folder}/r", "-p", target.pid, "-i", "2ms", "-n", 200)
            equal([row["elapsed_s"] for row in replay(f"{folder}/r")][-200:],
                  [row["elapsed_s"] for row in live], "times")
            os.unlink(f"{folder}/r")


@test
def a_replayed_report_equals_the_live_report():
    with Folder() as folder, Target("unbacked", 8 * MIB, 6 * MIB, is_stopped=True) as target:
        path = f"{folder}/r"
        for _ in range(30):
            record(path, "-p", target.pid, "-n", 1)
            live = memstate("-p", target.pid, "--text", "--heap", "off").must_be(0).out
            live = live.split(b"\nnext: ")[0]
            past = memstate("--replay", path, "--text", "-p", target.pid).must_be(0).out
            if past.split(b"\n", 1)[1] == live:
                break  # until then, other processes have started or stopped sharing its libraries
        equal(past.split(b"\n", 1)[1], live, "the page")
        check(past.startswith(b"At 20"), past[:80])


HEAP = ["live_bytes", "pool_pages_bytes", "pool_fragments_bytes", "heap_meta_bytes", "anon_bytes",
        "trimmable_bytes", "heap_quality", "heap_source", "allocator", "live_private_dirty_bytes",
        "anon_private_dirty_bytes", "private_dirty_bytes", "rss_bytes"]


@test
def heaps_are_recorded():
    with Folder() as folder, HeapTarget("fragmented", 16) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        result = memstate("-p", target.pid, "--csv", "-n", 4, "-i", "100ms", "-o", ",".join(HEAP),
                          "--record", path)
        live = result.must_be(0).rows()
        if live[0]["heap_quality"] == "unknown":
            raise Skip("heaps cannot be read")
        rows = memstate("--replay", path, "--csv", "-o", ",".join(HEAP)).must_be(0).rows()
        equal(rows[0]["live_bytes"], None, "live bytes where the heap was not read")
        equal(rows[1:], live, "rows shown live")


@test
def reports_are_recorded_too():
    with Folder() as folder, Target("unbacked", 8 * MIB, 6 * MIB, is_stopped=True) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        page = memstate("-p", target.pid, "--text", "--heap", "off", "--record", path).must_be(0).out
        past = memstate("--replay", path, "--text", "-p", target.pid).must_be(0).out
        equal(past.split(b"\n", 1)[1], page.split(b"\nnext: ")[0], "the page")
        memstate("-p", f"{target.pid},{os.getpid()}", "--text", "--record", path).must_be(0)
        memstate("--heap", "off", "--record", path, "--", "sleep", "0.2").must_be(0)
        rows = replay(path)
        equal([row["pid"] for row in rows[:4]],
              [target.pid, target.pid, *sorted([target.pid, os.getpid()])], "processes")
        check({row["comm"] for row in rows[4:]} >= {"sleep"}, "the command is missing in the recording")
        equal(rows[1]["anon_bytes"], rows[0]["anon_bytes"], "anon bytes in both samples")


@test
def a_killed_recorder_loses_at_most_the_last_sample():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        for _ in range(3):
            process = start_memstate("-p", target.pid, "--csv", "-i", "5ms", "--max-share", "100",
                                     "--record", path, "--heap", "off", "-o", "time,rss_bytes")
            shown = [process.stdout.readline() for _ in range(30)]
            process.send_signal(signal.SIGKILL)
            shown += process.communicate()[0].splitlines(keepends=True)
            whole = [line for line in shown[1:] if line.endswith(b"\n")]
            rows = memstate("--replay", path, "--csv", "-o", "time,rss_bytes").must_be(0).rows()
            times = [row["time"] for row in rows]
            check(whole[-1].split(b",")[0].decode() in times[-2:],
                  "the last complete sample is not in the recording")


@test
def a_recording_stays_within_its_bounds():
    with Folder() as folder, Target("churn", 1) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        record(path, "-p", target.pid, "-n", 60, "-i", "20ms", "--keep", "300ms", "--max-share", "100")
        with sqlite3.connect(path) as db:
            count, first, last = db.execute("SELECT count(*), min(unix_ms), max(unix_ms) FROM sample").fetchone()
        check(2 <= count <= 40 and last - first <= 600, f"{count} samples of {last - first} ms")


@test
def a_full_disk_is_reported_and_the_series_continues():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        record(f"{folder}/r", "-p", target.pid, "-n", 1)
        if os.geteuid() != 0:
            raise Skip("only root can mount a tmpfs")
        small = f"{folder}/small"
        os.mkdir(small)
        if os.system(f"mount -t tmpfs -o size=256k none {small} 2>/dev/null") != 0:
            raise Skip("mounting is not permitted")
        try:
            result = memstate("-p", target.pid, "--csv", "-n", 400, "-i", "2ms", "--max-share", "100",
                              "--output-all", "--heap", "off", "--record", f"{small}/r")
            equal(len(result.rows()), 400, "rows")
            equal(result.status, 3, "status")
            equal([e for e in result.complaints() if "small/r" in e],
                  [f"memstate: {small}/r: No space left on device"], "messages")
            check(len(replay(f"{small}/r")) > 0, "no samples were recorded before the disk was full")
        finally:
            os.system(f"umount {small}")


@test
def after_the_end_the_last_sample_of_the_process_is_shown():
    with Folder() as folder, Target("unbacked", MIB, MIB) as lasting:
        path = f"{folder}/r"
        with Target("name", "brief") as target:
            series = start_memstate("-p", target.pid, "--csv", "-i", "20ms", "--record", path, "-o", "time")
            times = [series.stdout.readline() for _ in range(2)][1:]
            if not times[0]:
                raise Skip("built without SQLite")
            target.end()
            times += series.communicate()[0].splitlines(keepends=True)
        last = times[-1].decode().strip()
        for args in ([], ["-p", "brief"], ["-p", target.pid], ["-p", target.pid, "--at", "+1h"]):
            lines = memstate("--replay", path, *args).must_be(0).out.decode().splitlines()
            check(re.fullmatch("(All|The selected) processes had ended by .*Z. Last sample:", lines[0]), lines)
            equal(lines[1], f"At {last}:", args)
            check(f"brief ({target.pid})" in lines[2], lines)
        memstate("--replay", path, "--at", "+0s").must_be(0)
        # another process in a later session
        record(path, "-p", lasting.pid, "-n", 2)
        lines = memstate("--replay", path, "-p", "brief", "--text").must_be(0).out.decode().splitlines()
        equal(lines[1], f"At {last}:", "an earlier session")
        lines = memstate("--replay", path).must_be(0).out.decode().splitlines()
        check(lines[0].startswith("At ") and lines[0] != f"At {last}:", lines)
        for args, word in [(["-p", "never"], b"never: no process in the recording has this name"),
                           (["-p", lasting.pid, "--at", "+0s"], b"%d: no process in the recording" % lasting.pid)]:
            check(word in memstate("--replay", path, "--text", *args).must_be(1).err, word)


@test
def oom_explain_accepts_replay_for_record():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        out = [memstate("oom", "explain", option, path).must_be(0).out for option in ("--record", "--replay")]
        result = memstate("oom", "explain", "--record", path, "--replay", path).must_be(2)
    equal(out[1], out[0], "report")
    check(b"--record and --replay are mutually exclusive" in result.err, result.err)


@test
def bad_arguments_and_files_are_refused_in_one_line():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        with open(f"{folder}/text", "w") as f:
            f.write("x" * 5000)
        with open(path, "rb") as f:
            whole = f.read()
        with open(f"{folder}/cut", "wb") as f:
            f.write(whole[:5000])
        for args, status, word in [
                (["--replay", f"{folder}/none"], 1, b"No such file"),
                (["--replay", f"{folder}/text"], 1, b"not a memstate recording"),
                (["--replay", f"{folder}/cut"], 1, b"cut:"),
                (["--replay", path, "--at", "noon"], 2, b"noon"),
                (["--replay", f"{path}@-1d"], 1, f"{path}@-1d: no such file; select a moment with "
                 f"--replay {path} --at -1d\n".encode()),
                (["--replay", f"{path}none@-1d"], 1, b"No such file"),
                (["oom", "explain", "--replay", f"{path}@-1d"], 1, f"use --record {path}\n".encode()),
                (["--at", "+1s"], 2, b"--replay"),
                (["--keep", "1h", "--csv", "-n1"], 2, b"--record"),
                (["--keep", "much", "--csv", "-n1", "--record", path], 2, b"much"),
                (["--record", f"{folder}/text", "--csv", "-n1"], 1, b"not a memstate recording"),
                (["--record", f"{folder}/no/r", "--csv", "-n1"], 1, b"No such file"),
                (["--record", f"{folder}/no/r", "--text"], 1, b"No such file")]:
            result = memstate(*args).must_be(status)
            check(word in result.err, result.err)
            equal(result.out, b"", f"output of {args}")
        with open(f"{folder}/text") as f:
            equal(f.read(), "x" * 5000, "content of the other file")


run()
