# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparison of two profiles: the report in each format, and each exit status."""

import json
import os
import re
from contextlib import contextmanager

from live import MEMSTATE, Folder, Skip, check, equal, memstate, run, test

TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count-stacks.so")

BEFORE = {"main;parse;grow": 12000, "main;parse": 4000, "main;same;x": 9000, "main;old": 2000,
          "main;tiny": 5}
AFTER = {"main;parse;grow": 12345, "main;parse": 400, "main;same;x": 9000,
         "main;new<int>(int)": 2100, "main;tiny": 7}
LISTED = [
    ("only_before", 2000, 0, ["old", "main"]),
    ("only_after", 0, 2100, ["new<...>", "main"]),
    ("changed", 4000, 400, ["parse", "main"]),
    ("changed", 12000, 12345, ["grow", "parse", "main"]),
]


def write(folder, name, stacks):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"{stack} {number}\n" for stack, number in stacks.items())
    return path


@contextmanager
def two_files(before=None, after=None):
    """Yield a function that compares two files with these stacks."""
    with Folder() as folder:
        files = write(folder, "before", before or BEFORE), write(folder, "after", after or AFTER)
        yield lambda *options, status=0: memstate("diff", *options, *files).must_be(status)


@test
def json_has_each_stack_and_parts_that_add_up():
    with two_files() as diff:
        said = json.loads(diff("--json").out)
    equal(said["metric"], "allocations", "metric")
    equal([(s["kind"], s["before"], s["after"], s["functions"]) for s in said["stacks"]], LISTED,
          "stacks")
    for s in said["stacks"]:
        equal(s["change"], s["after"] - s["before"], "change")
        equal(s["callers"], "none", "callers")
    sums = said["sums"]
    for key in "stacks", "before", "after", "change":
        equal(sum(sums[k][key] for k in sums if k != "all"), sums["all"][key], key)
    equal(sums["all"], {"stacks": 6, "before": sum(BEFORE.values()), "after": sum(AFTER.values()),
                        "change": sum(AFTER.values()) - sum(BEFORE.values())}, "all")
    equal(sums["equal"], {"stacks": 1, "before": 9000, "after": 9000, "change": 0}, "equal")
    equal(sums["left_out"], {"stacks": 1, "before": 5, "after": 7, "change": 2}, "left out")


@test
def csv_has_the_same_stacks():
    with two_files() as diff:
        rows = diff("--csv").rows()
        bare = diff("--csv", "--no-headings").out
        whole = diff("--csv").out
    equal([(r["kind"], int(r["before"]), int(r["after"]), r["stack"].split(";")) for r in rows],
          LISTED, "stacks")
    equal([int(r["change"]) for r in rows], [-2000, 2100, -3600, 345], "changes")
    equal(whole.split(b"\n", 1)[1], bare, "without headings")


@test
def text_shows_the_largest_changes_and_counts_the_rest():
    with two_files() as diff:
        text = diff().out.decode()
        short = diff("--top", "1").out.decode()
    for line in ("  changed               2          16000          12745          -3255",
                 "  all                   6          27005          23852          -3153",
                 "         +2100  new<...>", "          +345  12000 before, 12345 after"):
        check(line in text.split("\n"), f"a line {line!r} in {text}")
    check("more (--top" not in text, f"rows are left out: {text}")
    check("and 1 more (--top N)" in short and "+345" not in short, f"one of each list: {short}")


@test
def minimum_depth_and_generics_options_are_respected():
    with two_files() as diff:
        none = json.loads(diff("--json", "--min", "12345").out)
        equal(none["stacks"], [], "stacks of more than the most")
        equal(none["sums"]["left_out"]["stacks"], 6, "left out")
        every = json.loads(diff("--json", "--min", "0", "--keep-generics").out)
        equal(len(every["stacks"]), 5, "stacks of at least one")
        check(["new<int>(int)", "main"] in [s["functions"] for s in every["stacks"]], "complete names")
        inner = json.loads(diff("--json", "--depth", "1").out)
        equal([s["functions"] for s in inner["stacks"]], [["old"], ["new<...>"], ["parse"], ["grow"]],
              "innermost")
        equal({s["callers"] for s in inner["stacks"]}, {"more"}, "callers")


@test
def a_metric_of_bytes_has_limits_in_bytes():
    with two_files() as diff:
        said = json.loads(diff("--json", "--metric", "bytes", "--min", "4K").out)
        equal(said["metric"], "bytes", "metric")
        equal(said["min"], 4096, "minimum")
        equal([s["after"] for s in said["stacks"]], [12345], "more than 4 KiB")
        check("11.7K before, 12.1K after" in diff("--metric", "bytes").out.decode(), "no bytes in K")
        check("12000 before, 12345 after" in diff("--metric", "bytes", "-b").out.decode(),
              "no plain bytes")
        diff("--min", "4K", status=2)


@test
def status_4_means_growth_above_the_limit():
    with two_files() as diff:
        for limit, status in ("2099", 4), ("2100", 0):
            result = diff("--fail-above", limit, status=status)
            equal(bool(result.errors()), status == 4, "message")
            check(b"\nbefore " in result.out, "no report")
    with two_files({"a": 10, "b": 10}, {"a": 12, "b": 12}) as diff:
        diff("--fail-above", "3", status=4)
        diff("--fail-above", "4", "--metric", "bytes", status=0)
    with two_files({"a": 2000}, {"b": 1}) as diff:
        # everything listed shrank, but a stack that is not listed grew
        diff("--fail-above", "0", status=4)


@test
def files_that_cannot_be_compared_give_an_error_and_no_output():
    with two_files() as diff, Folder() as folder:
        good = write(folder, "good", BEFORE)
        bad = os.path.join(folder, "bad")
        with open(bad, "wb") as f:
            f.write(b"\x7fELF\0\1\2")
        absent = os.path.join(folder, "absent")
        for args, status, named in (([good, bad], 1, bad), ([absent, good], 1, absent),
                                    ([good], 2, "BEFORE AFTER"), ([], 2, "BEFORE AFTER"),
                                    ([good, good, good], 2, good), (["--depth", "x", good, good], 2, "x"),
                                    (["--metric", "size", good, good], 2, "size"),
                                    (["--fail-above", "-1", good, good], 2, "-1"),
                                    (["-p", "1", good, good], 2, "-p")):
            result = memstate("diff", *args).must_be(status)
            equal(result.out, b"", f"output of {args}")
            check(named in result.errors()[0], f"{named!r} in {result.errors()}")
        diff("--csv", "--json", status=2)


@test
def rules_apply_to_both_files_and_removals_are_reported():
    with two_files() as diff, Folder() as folder:
        rules = os.path.join(folder, "rules")
        with open(rules, "w", encoding="utf-8") as f:
            f.write("replace ^(old|new<.*)$ => made\n")
        said = json.loads(diff("--json", "--transform", "remove ^parse$", "--transforms", rules).out)
        text = diff("--transform", "remove ^parse$").out.decode()
        diff("--transform", "nonsense(", status=2)
        diff("--transforms", os.path.join(folder, "absent"), status=1)
    equal([(s["kind"], s["before"], s["after"], s["functions"]) for s in said["stacks"]],
          [("changed", 2000, 2100, ["made", "main"])], "stacks")
    equal([said[side]["taken_out"] for side in ("before", "after")], [16000, 12745], "taken out")
    check("Rules have removed 16000 before and 12745 after" in text, f"missing in {text}")


@test
def a_flame_graph_is_written_beside_the_report():
    with two_files() as diff, Folder() as folder:
        for name in "changes.svg", "changes.html":
            path = os.path.join(folder, name)
            check(b"Only after" in diff("--flame-graph", path).out, "no report")
            with open(path, encoding="utf-8") as f:
                text = f.read()
            check("grow" in text and "old" in text, f"a function is missing in {name}")
        equal(diff("--flame-graph", os.path.join(folder, "changes.txt"), status=2).out, b"",
              "output with an unknown file type")
        diff("--flame-graph", os.path.join(folder, "absent", "changes.svg"), status=1)
        equal(sorted(os.listdir(folder)), ["changes.html", "changes.svg"], "files")


def record(build, path):
    """Record a run; return how often the program reports calling duplicate()."""
    result = memstate("count", "--stacks", "--record", path, "--",
                      os.path.join(TARGETS, f"diff_target_{build}"))
    if b"built without" in result.err:
        raise Skip(result.errors()[-1])
    result.must_be(0)
    return int(re.search(rb"^duplicate (\d+)$", result.err, re.MULTILINE)[1])


@test
def two_builds_that_differ_in_one_call_differ_in_exactly_that_stack():
    if not os.path.exists(LIBRARY):
        raise Skip("built without the counting libraries")
    with Folder() as folder:
        files = [os.path.join(folder, build) for build in ("before", "after")]
        before, after = (record(os.path.basename(path), path) for path in files)
        equal((before, after), (5000, 6700), "calls in both builds")
        said = json.loads(memstate("diff", "--json", "--min", "0", *files).must_be(0).out)
        if not any("duplicate" in s["functions"] for s in said["stacks"]):
            raise Skip(f"no function names: {said['stacks']}")
        equal([(s["kind"], s["before"], s["after"]) for s in said["stacks"]],
              [("changed", before, after)], "stacks")
        equal(said["stacks"][0]["functions"][:4], ["duplicate", "store_line", "load", "main"],
              "changed stack")
        equal(said["sums"]["all"]["change"], after - before, "all")
        inner = json.loads(memstate("diff", "--json", "--min", "0", "--metric", "bytes", *files)
                           .must_be(0).out)
        equal([s["change"] for s in inner["stacks"]],
              [sum(len(f"line {i}") + 1 for i in range(after - before))], "bytes")
        memstate("diff", "--fail-above", after - before - 1, *files).must_be(4)
        memstate("diff", "--fail-above", after - before, *files).must_be(0)


@test
def names_from_a_file_are_escaped():
    with two_files({"main;\033[31mred": 5000}, {"main;\033[31mred": 6000}) as diff:
        for form in [], ["--csv"], ["--json"]:
            check(b"\033" not in diff(*form).out, f"an escape in {form}")


run()
