# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate leaks finds exactly the blocks that the process reports as leaked."""

import ctypes.util
import json
import os
import re
import shutil
import subprocess

from leak_lib import PROGRAM, LeakTarget
from live import (KIB, Folder, Skip, as_nobody, check, complaints, equal, memstate, parse_csv,
                  read_proc, run, status_field, test)

SUMS = ["direct_count", "indirect_count", "direct_bytes", "indirect_bytes"]

# Shapes that memcheck classifies the same way: no block is reachable only by
# an interior pointer.
AS_MEMCHECK = [("singles", 100), ("list", 1000), ("backwards", 1000), ("ring", 50), ("tree", 9),
               ("pairs", 60), ("mixed", 60), ("ends", 20), ("freed", 50), ("tls", 30),
               ("mapping", 30)]
SHAPES = AS_MEMCHECK + [
    ("interior", 80), ("shared", 30), ("read-only", 30), ("large", 12), ("stacks", 6),
    ("stale", 6), ("exited", 5), ("register", 0), ("register", 1)]


def leaks(pid, *args, status=0, **popen):
    """Return memstate's JSON output. A long pause on a busy machine is not a failure."""
    result = memstate("leaks", "-p", pid, "-J", "--max-pause", "1m", *args, **popen)
    return json.loads(result.must_be(status).out)


def check_truth(target, found):
    equal({key: found[key] for key in SUMS}, {key: target.truth[key] for key in SUMS},
          "leaked blocks")
    equal(found["leak_quality"], "exact", "quality")
    equal(found["problem"], None, "problem")
    for what in ("count", "bytes"):
        equal(found[f"reachable_{what}"] + found[f"direct_{what}"] + found[f"indirect_{what}"],
              found[f"live_{what}"], f"parts of the live {what}")
    equal(found["reachable_resident_bytes"] + found["leaked_resident_bytes"],
          found["live_resident_bytes"], "resident parts of live")
    groups = found["leaked"]
    equal(sum(g["blocks"] for g in groups), found["direct_count"], "direct blocks of the groups")
    equal(sum(g["total_bytes"] for g in groups), found["direct_bytes"], "bytes of the groups")
    equal(sum(g["indirect_blocks"] for g in groups), found["indirect_count"],
          "indirect blocks of the groups")
    equal(sum(g["indirect_bytes"] for g in groups), found["indirect_bytes"],
          "indirect bytes of the groups")


@test
def leaks_match_the_program():
    for shape, number in SHAPES:
        with LeakTarget(shape, number) as target:
            try:
                check_truth(target, leaks(target.pid))
            except AssertionError as error:
                raise AssertionError(f"{shape} {number}: {error}") from error


@test
def small_leaked_blocks_are_resident_with_their_headers():
    """Each page of the leaked blocks holds the header of one of them, so all of
    them are resident."""
    for shape, number in (("singles", 100), ("list", 1000), ("tree", 9)):
        with LeakTarget(shape, number) as target:
            found = leaks(target.pid)
            count = target.truth["direct_count"] + target.truth["indirect_count"]
            usable = target.truth["direct_bytes"] + target.truth["indirect_bytes"]
            equal(found["leaked_resident_bytes"], usable + 8 * count, f"{shape}: resident")


@test
def leaks_match_the_program_with_jemalloc():
    """Compare counts only, since jemalloc's blocks are larger. A block's end is its
    neighbour's start and keeps the neighbour."""
    library = ctypes.util.find_library("jemalloc")
    if not library:
        raise Skip("libjemalloc is not installed")
    for shape, number in SHAPES:
        if shape in ("ends", "register"):
            continue
        with LeakTarget(shape, number, env={**os.environ, "LD_PRELOAD": library}) as target:
            found = leaks(target.pid)
            equal((found["direct_count"], found["indirect_count"], found["leak_quality"]),
                  (target.truth["direct"], target.truth["indirect"], "exact"),
                  f"{shape} {number}: leaked blocks")


@test
def lazily_freed_memory_keeps_no_blocks_alive():
    with LeakTarget("lazy", 20) as target:
        for words in (line.split() for line in read_proc(target.pid, "smaps").splitlines()):
            if words[0] == b"Rss:":
                rss = words[1]
            if words[0] == b"LazyFree:" and words[1] != b"0" and words[1] == rss:
                break
        else:
            raise Skip("the kernel has not lazily freed all of it")
        check_truth(target, leaks(target.pid))


def lost(valgrind, shape, number):
    """Return memcheck's bytes and blocks that are definitely and indirectly lost."""
    result = subprocess.run(
        [valgrind, "--leak-check=full", "--show-leak-kinds=none", PROGRAM, shape, str(number)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    text = result.stderr.decode().replace(",", "")
    return [int(n) for kind in ("definitely", "indirectly")
            for n in re.search(kind + r" lost: (\d+) bytes in (\d+) blocks", text).groups()]


@test
def valgrind_finds_the_same_leaks():
    """Valgrind's heap has low addresses, so in a few runs a random word looks like a
    pointer to a block."""
    valgrind = shutil.which("valgrind")
    if not valgrind:
        raise Skip("valgrind is not installed")
    for shape, number in AS_MEMCHECK:
        with LeakTarget(shape, number) as target:
            found = leaks(target.pid)
        ours = [found[key] for key in ("direct_bytes", "direct_count", "indirect_bytes",
                                       "indirect_count")]
        theirs = []
        while ours not in theirs and len(theirs) < 3:
            theirs.append(lost(valgrind, shape, number))
        check(ours in theirs, f"{shape} {number}: {ours}, valgrind: {theirs}")


@test
def groups_report_size_content_and_location():
    with LeakTarget("list", 50) as target:
        groups = leaks(target.pid)["leaked"]
        equal(len(groups), 1, "groups")
        group = groups[0]
        equal((group["content"], group["block_bytes"], group["blocks"]), ("pointers", 40, 1), "group")
        with open(f"/proc/{target.pid}/mem", "rb") as memory:
            memory.seek(int(group["example_addr"], 16))
            equal(group["peek"], memory.read(32).hex(), "peek")
        text = memstate("leaks", "-p", target.pid, "--max-pause", "1m").must_be(0).out.decode()
        check(group["example_addr"][2:] in text, text)
        rows = parse_csv(memstate("leaks", "-p", target.pid, "--max-pause", "1m",
                                  "--csv").must_be(0).out)
        equal([(row["kind"], row["total_bytes"], row["indirect_bytes"], row["peek"]) for row in rows],
              [("leaked", 40, 49 * 40, group["peek"])], "rows")


@test
def leaks_above_the_limit_give_status_4():
    with LeakTarget("singles", 100) as target:
        for limit, status in (("99", 4), ("100", 0), ("3999B", 4), ("4000B", 0), ("3.9K", 4),
                              ("4K", 0), ("0", 4), ("1G", 0)):
            leaks(target.pid, "--fail-above", limit, status=status)
        leaks(target.pid, "--fail-above", "1G", "--fail-above", "99", status=4)
        leaks(target.pid, "--fail-above", "100", "--fail-above", "1B", status=4)
        for bad in ("", "x", "1x", "-1", "1KB", "1.5"):
            result = memstate("leaks", "-p", target.pid, "--fail-above", bad).must_be(2)
            equal(result.out, b"", "output")


@test
def new_blocks_are_those_since_the_snapshot():
    with LeakTarget("singles", 50) as target, Folder() as folder:
        first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
        leaks(target.pid, "--snapshot", first)
        equal(leaks(target.pid, "--since", first)["new"], [], "new blocks without any change")
        target.order(b"k")
        target.order(b"l")
        found = leaks(target.pid, "--since", first, "--snapshot", second)
        equal([(g["block_bytes"], g["blocks"]) for g in found["new"]], [(72, 100)], "new")
        equal(found["direct_count"], 150, "leaked")
        target.order(b"k")
        for snapshot, count in ((first, 200), (second, 100)):
            found = leaks(target.pid, "--since", snapshot)
            equal([(g["block_bytes"], g["blocks"]) for g in found["new"]], [(72, count)], "new blocks")
        # write the later snapshot over the earlier one
        leaks(target.pid, "--since", second, "--snapshot", second)
        equal(leaks(target.pid, "--since", second)["new"], [], "new blocks")
        equal(sorted(os.listdir(folder)), ["first", "second"], "files")
        rows = parse_csv(memstate("leaks", "-p", target.pid, "--max-pause", "1m", "--csv",
                                  "--since", first).must_be(0).out)
        equal({(row["kind"], row["block_bytes"], int(row["blocks"])) for row in rows},
              {("leaked", 40, 50), ("leaked", 88, 100), ("new", 72, 200)}, "rows")
        text = memstate("leaks", "-p", target.pid, "--max-pause", "1m", "--since", first).must_be(0).out.decode()
        command = text.splitlines()[-1].removeprefix("next: memstate ").split()
        equal(command[:3], ["explain", "-p", str(target.pid)], "the next command")
        out = memstate(*command, "--max-pause", "1m").must_be(0).out.decode()
        check("72 bytes, live" in out and "by nothing" not in out, out)


@test
def new_objects_have_their_types():
    """With a snapshot that contains no blocks, all blocks of a program are new."""
    path = os.path.join(os.path.dirname(PROGRAM), "types_target")
    if not os.path.exists(path):
        raise Skip("types_target was not built: no C++ compiler")
    with Folder() as folder, subprocess.Popen([path], stdin=subprocess.PIPE,
                                              stdout=subprocess.PIPE) as process:
        try:
            said = [line.decode().split() for line in iter(process.stdout.readline, b"ready\n")]
            truth = [(int(words[0]), int(words[1])) for words in said if "Circle" in words[-1]]
            ticks = read_proc(process.pid, "stat").rsplit(b")", 1)[1].split()[19].decode()
            none = os.path.join(folder, "none")
            with open(none, "w", encoding="ascii") as f:
                f.write(f"memstate blocks 1\npid {process.pid}\nstart_ticks {ticks}\n"
                        "unix_ms 0\ncount 0\n\n")
            found = leaks(process.pid, "--since", none)
        finally:
            process.kill()
    if not any(g["type"] for g in found["new"]):
        raise Skip("this build cannot determine types")
    groups = [g for g in found["new"] + found["leaked"] if g["type"] and "Circle" in g["type"]]
    equal([(sum(g["blocks"] for g in groups), sum(g["total_bytes"] for g in groups))], truth,
          "circles")


def refused(folder, pid, content):
    path = os.path.join(folder, "snapshot")
    with open(path, "wb") as f:
        f.write(content)
    result = memstate("leaks", "-p", pid, "--max-pause", "1m", "--since", path).must_be(1)
    equal(result.out, b"", "output")
    equal(len(complaints(result.err)), 1, f"messages: {result.err}")
    check(path.encode() in result.err, result.err)
    return result.err


@test
def a_snapshot_of_another_process_or_a_damaged_one_is_refused():
    with LeakTarget("singles", 50) as target, LeakTarget("singles", 50) as other, \
            Folder() as folder:
        path = os.path.join(folder, "good")
        leaks(target.pid, "--snapshot", path)
        with open(path, "rb") as f:
            good = f.read()
        check(f"PID {target.pid}, not {other.pid}".encode() in refused(folder, other.pid, good), "whose")
        ticks = good.replace(b"start_ticks ", b"start_ticks 1")
        check(b"has been reused" in refused(folder, target.pid, ticks), "the start time is not checked")
        check(b"version" in refused(folder, target.pid, good.replace(b"blocks 1", b"blocks 2")),
              "version")
        for bad in (b"", b"x", good[:20], good[:-1], good + b"\1\1", good + b"\x80",
                    good.replace(b"count ", b"count 1"), good.replace(b"pid", b"pip"),
                    good.replace(b"\npid ", b"\npid -"), b"\x7fELF" + good):
            refused(folder, target.pid, bad)
        result = memstate("leaks", "-p", target.pid, "--since", os.path.join(folder, "none"))
        result.must_be(1)
        result = memstate("leaks", "-p", target.pid, "--max-pause", "1m", "--snapshot",
                          os.path.join(folder, "none", "file"))
        result.must_be(1)


@test
def leaks_requires_exactly_one_process():
    with LeakTarget("singles", 5) as a, LeakTarget("list", 5) as b, Folder() as folder:
        pids = f"{a.pid},{b.pid}"
        for args in (["--csv"], ["--snapshot", os.path.join(folder, "x")]):
            memstate("leaks", "-p", pids, *args).must_be(2)
        equal(os.listdir(folder), [], "files")
        out = memstate("leaks", "-p", pids, "-J", "--max-pause", "1m").must_be(0).out
        equal([json.loads(line)["direct_count"] for line in out.splitlines()], [5, 1], "leaked")
    memstate("leaks").must_be(2)


@test
def unknown_memory_is_not_reported_as_leaked():
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            # nothing is leaked, whichever malloc it uses; if the heap is unknown,
            # nothing is reported
            result = memstate("leaks", "-p", process.pid, "-J", "--max-pause", "1m")
            if result.status == 0:
                equal(json.loads(result.out)["leak_quality"], "exact", "quality")
            else:
                equal((result.status, result.out), (1, b""), "answer")
        finally:
            process.kill()
    with LeakTarget("singles", 5) as target:
        result = memstate("leaks", "-p", target.pid, "--max-pause", "1us").must_be(1)
        equal(result.out, b"", "output")
        check(b"--max-pause" in result.err, result.err)


@test
def an_ordinary_user_can_scan_their_own_process():
    become = as_nobody()
    with LeakTarget("tree", 5, preexec_fn=become) as target:
        check_truth(target, leaks(target.pid, preexec_fn=become))
        equal(status_field(target.pid, "TracerPid"), "0", "tracer")


@test
def the_target_does_not_change():
    with LeakTarget("large", 10) as target:
        before = [line for line in read_proc(target.pid, "smaps_rollup").splitlines()
                  if line.startswith((b"Rss", b"Anonymous", b"LazyFree", b"Swap:"))]
        found = leaks(target.pid)
        check(found["scanned_bytes"] > 64 * KIB, "scanned")
        after = [line for line in read_proc(target.pid, "smaps_rollup").splitlines()
                 if line.startswith((b"Rss", b"Anonymous", b"LazyFree", b"Swap:"))]
        equal(after, before, "memory")


run()
