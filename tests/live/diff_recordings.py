# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparison of two moments in one or two recordings: growth by owner,
process and mapping."""

import json

from live import MIB, Folder, Skip, Target, check, equal, memstate, run, start_memstate, test


def record(path, *args):
    result = memstate(*args, "--csv", "--heap", "off", "--output-all", "--max-share", "100", "--record", path)
    if b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
        raise Skip("built without SQLite")
    return result.must_be(0).rows()


def changes(path, other, *args, status=0):
    said = json.loads(memstate("diff", "--json", *args, path, other).must_be(status).out)
    found = {}
    for row in said["changes"]:
        found.setdefault(row["part"], []).append(row)
    return said, found


def by_name(rows):
    return {row["name"]: row for row in rows}


@test
def growth_between_recordings_is_shown_by_process_and_mapping():
    with Folder() as folder:
        one, two = f"{folder}/one", f"{folder}/two"
        with Target("unbacked", 8 * MIB, 2 * MIB, is_stopped=True) as target:
            before = record(one, "-p", target.pid, "-n", 1)[0]
        with Target("unbacked", 8 * MIB, 6 * MIB, is_stopped=True) as target:
            after = record(two, "-p", target.pid, "-n", 1)[0]
        said, found = changes(one, two)
        text = memstate("diff", one, two).must_be(0).out.decode()
        rows = memstate("diff", "--csv", one, two).must_be(0).rows()
    equal(said["before"]["processes"], 1, "processes")
    total = by_name(found["total"])
    equal((total["rss"]["before_bytes"], total["rss"]["after_bytes"]),
          (before["rss_bytes"], after["rss_bytes"]), "Rss")
    for part, names in (("state", ["private_dirty", "private_clean", "lazyfree", "shared_clean"]),
                        ("owner", ["anon", "file", "stack", "shmem"])):
        for name in names:
            row = by_name(found[part])[name]
            equal((row["before_bytes"], row["after_bytes"]),
                  (before[f"{name}_bytes"], after[f"{name}_bytes"]), name)
    process = found["process"][0]
    equal((process["pid_before"], process["pid_after"]), (before["pid"], after["pid"]), "pids")
    grown = found["mapping"][0]
    equal((grown["owner"], grown["name"], grown["change_bytes"]), ("anon", "[anonymous]", grown["change_bytes"]),
          "the mapping")
    check(abs(grown["change_bytes"] - 4 * MIB) < MIB // 4, grown)
    equal(sum(row["change_bytes"] for row in found["mapping"]), total["rss"]["change_bytes"], "mappings add up")
    check(f"({after['pid']}, before {before['pid']})" in text and "+4." in text, text)
    parts = text.partition("Rss by state:\n")[2].partition("\n\n        CHANGE ")[0]
    names = [line.split()[0] for line in parts.splitlines() if line.startswith("  ")]
    check("lazyfree" not in names and "anon" in names, f"zeros are left out: {parts}")
    for row in found["state"] + found["owner"]:
        amounts = row["before_bytes"], row["after_bytes"]
        equal(row["name"] in names, amounts not in [(0, 0), (None, None)], f"{row} in: {parts}")
    equal(len(rows), len(said["changes"]), "rows of CSV")


@test
def two_moments_of_a_recording_are_compared_with_a_limit():
    with Folder() as folder, Target("unbacked", 8 * MIB, 2 * MIB, is_stopped=True) as still, \
            Target("churn", 1) as other:
        path = f"{folder}/r@1"  # a file name that contains @
        rows = record(path, "-p", f"{still.pid},{other.pid}", "-n", 5, "-i", "50ms")
        first, last = rows[0]["time"], rows[-1]["time"]
        said, found = changes(f"{path}@+0s", path, "-p", still.pid)
        equal((said["before"]["time"], said["after"]["time"]), (first, last), "moments")
        equal([row["change_bytes"] for row in found["process"]], [0],
              "change of a process that did nothing")
        equal(found.get("mapping"), None, "mappings that changed")
        equal(changes(f"{path}@{first}", f"{path}@-0s")[0]["before"]["processes"], 2, "processes")
        memstate("diff", "--fail-above", "0", "-p", still.pid, f"{path}@+0s", path).must_be(0)
        changes(f"{path}@+0s", path, "-p", 1, status=3)
        record(f"{folder}/small", "-p", other.pid, "-n", 1)
        result = memstate("diff", "--fail-above", "1M", f"{folder}/small", path).must_be(4)
        check(b"grown by" in result.err and b"\nbefore " in result.out, result.err)


@test
def after_the_end_of_a_process_its_last_sample_is_compared():
    with Folder() as folder:
        path = f"{folder}/r"
        with Target("name", "brief") as target:
            series = start_memstate("-p", target.pid, "--csv", "-i", "20ms", "--record", path, "-o", "time")
            times = [series.stdout.readline() for _ in range(3)][1:]
            if not times[0]:
                raise Skip("built without SQLite")
            target.end()
            times += series.communicate()[0].splitlines(keepends=True)
        last = times[-1].decode().strip()
        gone = memstate("diff", f"{path}@+0s", path).must_be(0).out.decode()
        check(gone.startswith("Rss ") and f"\nafter   {path}, {last}, 1 process" in gone
              and "the last sample: all processes had ended by 20" in gone, gone)
        lines = memstate("diff", f"{path}@first", f"{path}@last").must_be(0).out.decode().splitlines()
        equal(" ".join(lines[:2]).strip(),
              "The change in Rss is unknown, because there was no process at the second moment.", "conclusion")
        equal(lines[-1], f"next: memstate diff {path}@first {path}@{last}", "suggestion")
        check(memstate(*lines[-1].split()[2:]).must_be(0).out.startswith(b"Rss "), lines[-1])


@test
def figures_of_a_recorded_cgroup_are_compared():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        path = f"{folder}/r"
        result = memstate("oom", "-p", target.pid, "--csv", "-i", "50ms", "-n", 3, "--record", path)
        if result.status == 1 or b"require SQLite" in result.err or b"unknown option '--record'" in result.err:
            raise Skip("no cgroup is visible, or recording is not possible")
        rows = result.rows()
        _, found = changes(f"{path}@+0s", path)
        text = memstate("diff", f"{path}@+0s", path).must_be(0).out.decode()
    group = by_name(found["group"])
    for name in ("usage", "need", "lazyfree", "file", "working_set"):
        equal((group[name]["before_bytes"], group[name]["after_bytes"]),
              (rows[0][f"{name}_bytes"], rows[-1][f"{name}_bytes"]), name)
    check("Of the group /" in text, text)


@test
def recordings_that_cannot_be_compared_are_reported_in_one_line():
    with Folder() as folder, Target("unbacked", MIB, MIB) as target:
        path = f"{folder}/r"
        record(path, "-p", target.pid, "-n", 1)
        with open(f"{folder}/text", "w") as f:
            f.write("a;b 3\n" * 100)
        for args, status, word in [
                ([path, f"{folder}/text"], 1, b"not a memstate recording"),
                ([f"{folder}/text", f"{path}@+1s"], 1, b"not a memstate recording"),
                ([path, f"{folder}/none"], 1, b"No such file"),
                ([path, f"{path}@noon"], 2, b"noon"),
                (["--depth", "3", path, path], 2, b"--depth"),
                (["--fail-above", "much", path, path], 2, b"much"),
                (["-p", "1", f"{folder}/text", f"{folder}/text"], 2, b"-p")]:
            result = memstate("diff", *args).must_be(status)
            check(word in result.err, result.err)
            equal(result.out, b"", f"output of {args}")


@test
def a_capture_can_be_compared_too():
    with Folder() as folder:
        one, two, path = f"{folder}/one", f"{folder}/two", f"{folder}/r"
        with Target("unbacked", 8 * MIB, 2 * MIB, is_stopped=True) as target:
            memstate("capture", "-p", target.pid, one).must_be(0)
            before = memstate("--csv", "-n", 1, "-p", target.pid, "--heap", "off").must_be(0).rows()[0]
        with Target("unbacked", 8 * MIB, 6 * MIB, is_stopped=True) as target:
            memstate("capture", "-p", target.pid, two).must_be(0)
            after = record(path, "-p", target.pid, "-n", 1)[0]
        for other in two, path:
            total = by_name(changes(one, other)[1]["total"])
            equal((total["rss"]["before_bytes"], total["rss"]["after_bytes"]),
                  (before["rss_bytes"], after["rss_bytes"]), f"Rss, {other}")
            owner = by_name(changes(one, other)[1]["owner"])["anon"]
            check(abs(owner["change_bytes"] - 4 * MIB) < MIB // 4, owner)
        result = memstate("diff", one, "/etc/passwd").must_be(1)
        check(b"/etc/passwd" in result.err, result.err)
        empty = memstate("diff", one, folder + "/none").must_be(1)
        check(b"none" in empty.err, empty.err)


run()
