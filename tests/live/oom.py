# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate oom: what fills a cgroup is determined from its charges, and how
much is reclaimable."""

import json
import os
import signal

from live import MIB, Folder, Skip, check, equal, memstate, run, start_memstate, test
from oom_lib import Filled, Group, check_sum, figures, near

LIMIT = 128 * MIB

# Kernel memory figures of cgroup version 1 that recordings do not contain.
NOT_RECORDED = ("pipe_limit_bytes", "pipe_count", "inode_slab_bytes", "socket_slab_bytes", "socket_count", "tcp_bytes")


@test
def private_memory_counts_as_need():
    with Group(LIMIT) as group, Filled(group, "anon=50"):
        f = figures(group)
        check_sum(f)
        near(f["live_anon_bytes"], 50 * MIB, "anon")
        near(f["headroom_bytes"], LIMIT - f["need_bytes"], "headroom", 0)
        near(f["working_set_bytes"], 50 * MIB, "working set")
        equal([f["limit_bytes"], f["hidden_bytes"], f["lazyfree_bytes"]], [LIMIT, 0, 0],
              "limit, hidden, LazyFree")
        equal([f["process_count"], f["cgroup"]], [1, group.path], "process count and cgroup")


@test
def lazily_freed_memory_is_reclaimable():
    with Group(LIMIT) as group, Filled(group, "anon=50", "free=0"):
        f = figures(group)
        check_sum(f)
        near(f["lazyfree_bytes"], 50 * MIB, "LazyFree")
        near(f["need_bytes"], 0, "need")
        equal(f["hidden_bytes"], 0, "hidden")


@test
def memory_that_was_freed_lazily_and_written_again_is_hidden_from_the_working_set():
    with Group(LIMIT) as group, Filled(group, "anon=50", "free=0", "write=0"):
        f = figures(group)
        check_sum(f)
        near(f["hidden_bytes"], 50 * MIB, "hidden")
        near(f["working_set_bytes"], 0, "working set")
        near(f["need_bytes"], 50 * MIB, "need")


@test
def one_written_byte_keeps_a_huge_page_and_hides_it():
    with Group(LIMIT) as group, Filled(group, "thp=40", "free=0", "poke=0"):
        f = figures(group)
        check_sum(f)
        if f["lazyfree_bytes"] > 20 * MIB:
            raise Skip("huge pages are not available")
        near(f["hidden_bytes"], 40 * MIB, "hidden")
        near(f["working_set_bytes"], 0, "working set")


@test
def memory_locked_after_it_was_freed_counts_as_need():
    with Group(LIMIT) as group, Filled(group, "anon=40", "free=0", "lock=0"):
        f = figures(group)
        check_sum(f)
        near(f["need_bytes"], 40 * MIB, "need")
        near(f["lazyfree_bytes"], 0, "LazyFree")


@test
def a_file_that_is_read_repeatedly_is_not_hidden():
    with Folder() as folder, Group(LIMIT) as group, \
            Filled(group, f"file=40:{folder}/f", *[f"read=1:{folder}/f"] * 3, f"map=1:{folder}/f", "anon=10"):
        f = figures(group)
        check_sum(f)
        near(f["file_bytes"], 40 * MIB, "files")
        near(f["need_bytes"], 10 * MIB, "need")
        equal(f["hidden_bytes"], 0, "hidden")


@test
def files_and_shared_memory_are_distinguished_and_nothing_is_hidden():
    with Folder() as folder, Group(LIMIT) as group, \
            Filled(group, f"file=30:{folder}/f", f"read=1:{folder}/f", f"map=1:{folder}/f", "shm=20"):
        f = figures(group)
        check_sum(f)
        near(f["shmem_bytes"], 20 * MIB, "shmem")
        near(f["file_bytes"], 30 * MIB, "file")
        near(f["need_bytes"], 20 * MIB, "need")
        equal(f["hidden_bytes"], 0, "hidden")


@test
def kernel_memory_counts_as_need():
    with Group(LIMIT) as group, Filled(group, "pipes=20", "tables=10"):
        f = figures(group)
        check_sum(f)
        near(f["kernel_bytes"], 30 * MIB, "kernel", 3 * MIB)


@test
def files_left_on_a_tmpfs_belong_to_no_process():
    path = f"/dev/shm/memstate-{os.getpid()}"
    with Group(LIMIT) as group:
        try:
            equal(group.run(f"file=30:{path}"), 0, "status")
            f = figures(group)
            check_sum(f)
            near(f["shmem_bytes"], 30 * MIB, "shmem")
            near(f["unaccounted_bytes"], 30 * MIB, "unaccounted")
            equal(f["process_count"], 0, "processes")
        finally:
            if os.path.exists(path):
                os.unlink(path)


@test
def memory_shared_with_a_child_is_not_lazily_freed():
    with Group(LIMIT) as group, Filled(group, "anon=40", "fork=1", "free=0"):
        f = figures(group)
        check_sum(f)
        near(f["lazyfree_bytes"], 0, "LazyFree")
        near(f["need_bytes"], 40 * MIB, "need")


@test
def a_parents_limit_applies_to_everything_in_the_parent():
    with Group(64 * MIB) as parent, Group(LIMIT, parent) as own, Group(LIMIT, parent) as other, \
            Filled(own, "anon=10") as filled, Filled(other, "anon=20"):
        f = figures(own)
        check_sum(f)
        equal([f["limit_bytes"], f["limit_cgroup"], f["process_count"]],
              [64 * MIB, parent.path, 2], "the limit")
        near(f["usage_bytes"], 30 * MIB, "usage")
        text = memstate("oom", "-p", filled.pid, "--text").must_be(0).out.decode()
        check(f"limit 64.0M, of {parent.path}" in text, text)
        levels = json.loads(memstate("oom", "-p", filled.pid, "--json").must_be(0).out)["levels"]
        equal([level["limit_bytes"] for level in levels[:3]], [LIMIT, 64 * MIB, None], "limits")
        equal([level["has_limit"] for level in levels[:3]], [True, True, False], "has a limit")


@test
def removing_the_cgroup_ends_the_series_and_keeps_the_rows():
    with Group(LIMIT) as group:
        process = start_memstate("oom", "--cgroup", group.dir, "--csv", "-i", "50ms")
        lines = [process.stdout.readline() for _ in range(3)]
        os.rmdir(group.dir)
        rest, err = process.communicate(timeout=60)
        equal(process.returncode, 3, "status")
        check(b"the cgroup was removed" in err, err)
        check(lines[2].count(b",") == lines[0].count(b","), "incomplete row")
        check(rest == b"" or rest.endswith(b"\n"), "incomplete last row")
        os.mkdir(group.dir)


@test
def a_number_of_samples_needs_no_interval():
    with Group(LIMIT) as group, Filled(group, "anon=5"):
        args = ["oom", "--cgroup", group.dir]
        equal(len(memstate(*args, "--csv", "-n", 1).must_be(0).rows()), 1, "samples")
        equal(len(memstate(*args, "--json", "-n", 1).must_be(0).out.splitlines()), 1, "objects")
        equal(len(memstate(*args, "--csv", "-n", 2, "-i", "1ms").must_be(0).rows()), 2, "samples")
        equal(memstate(*args, "-n", 1).must_be(0).errors(), [], "stderr of a report")
        check("a report consists of one sample" in memstate(*args, "-n", 2).must_be(2).errors()[0], "-n 2")


@test
def a_recorded_cgroup_is_replayed():
    with Folder() as folder, Group(LIMIT) as group, \
            Filled(group, "anon=30", "free=0", "anon=20", "fork=2/5"):
        path = f"{folder}/r"
        live = memstate("oom", "--cgroup", group.dir, "--csv", "--output-all", "-i", "50ms", "-n", 8,
                        "--record", path)
        if b"require SQLite" in live.err:
            raise Skip("built without SQLite")
        live.must_be(0)
        past = memstate("oom", "--replay", path, "--csv", "--output-all").must_be(0)
        equal(past.rows()[0].keys(), live.rows()[0].keys(), "columns")
        for was, now in zip(live.rows(), past.rows()):
            # live: since the start; replay: since the first sample
            check(was.pop("elapsed_s") >= now.pop("elapsed_s"), "time")
            for column in NOT_RECORDED:
                was.pop(column)
                equal(now.pop(column), None, f"{column}, expected to be missing in the recording")
            equal(now, was, "row")
        equal([len(live.rows()), len(past.rows())], [8, 8], "samples")
        third = memstate("oom", "--replay", path, "--csv", "--at", live.rows()[2]["time"]).must_be(0)
        equal([row["time"] for row in third.rows()], [live.rows()[2]["time"]],
              "time of the replayed sample")
        text = memstate("oom", "--replay", path).must_be(0).out
        check(group.path.encode() in text and b"limit 128.0M" in text, text)
        check(b"\nneed over " in text, text)


@test
def the_container_is_derived_from_the_cgroup_path():
    ident = f"{os.getpid():064x}"
    with Group(LIMIT, name=f"docker-{ident}.scope") as group, Filled(group, "anon=1") as filled:
        f = figures(group)
        equal([f["runtime"], f["container_id"], f["pod"]], ["docker", ident, None], "names")
        text = memstate("oom", "-p", filled.pid, "--text").must_be(0).out.decode()
        check(f"\ncontainer docker {ident[:12]}\n" in text, text)
        # the id also selects the cgroup
        row = memstate("oom", "--cgroup", ident, "--csv").must_be(0).rows()[0]
        equal(row["cgroup"], group.path, "cgroup with that id")


@test
def bad_arguments_are_refused_in_one_line():
    for args, status, word in [(["--cgroup", "/no/such/group"], 1, b"no such cgroup"),
                               (["--cgroup", "0123456789abcdef"], 1, b"no such cgroup"),
                               (["--cgroup", "/", "-p", "1"], 2, b"mutually exclusive"),
                               (["-p", "999999999"], 2, b"999999999"),
                               (["-n", "3"], 2, b"--csv"),
                               (["--csv", "--record", "/tmp/never"], 2, b"-i"),
                               (["--replay", "/no/such/file"], 1, b"/no/such/file"),
                               (["-o", "usage_bytes"], 2, b"--csv")]:
        result = memstate("oom", *args).must_be(status)
        check(word in result.err, result.err)
        equal(result.out, b"", "output")


@test
def a_closed_pipe_ends_the_series():
    with Group(LIMIT) as group, Filled(group, "anon=10"):
        for args in (["--csv"], ["--json"]):
            series = start_memstate("oom", "--cgroup", group.path, "-i", "1ms", *args)
            check(series.stdout.readline(), "the series printed no row")
            series.stdout.close()
            err = series.stderr.read()
            series.stderr.close()
            equal((series.wait(60), err), (-signal.SIGPIPE, b""), f"{args}: status and messages")


run()
