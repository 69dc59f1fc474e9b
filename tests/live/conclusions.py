# SPDX-License-Identifier: GPL-2.0-or-later
"""Each text report opens with its conclusion and ends with a command that works."""

import os
import re
import subprocess

from leak_lib import LeakTarget
from live import (MEMSTATE, MIB, Folder, Skip, Target, check, equal, memstate, need_built_with,
                  run, test)

FIXTURES = os.path.join(os.path.abspath(os.environ["srcdir"]), "tests", "fixtures")
AMOUNT = r"\d+(\.\d[KMGT])?"


def run_in_shell(command):
    """Run a command that begins with "memstate" as a user would, and return its status."""
    script = f"memstate() {{ '{MEMSTATE}' \"$@\"; }}; {command}"
    return subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, check=False).returncode


def check_report(args, opening, command, skipped=0, runs=True):
    """Check the sentences after `skipped` lines, and the suggested command. Both are regular
    expressions; None: no command may be suggested. Run the command, unless it takes long."""
    out = memstate(*args).must_be(0).out.decode()
    lines = out.splitlines()
    text = " ".join(lines[skipped:skipped + 4])
    check(re.match(opening, text), f"{args}: opens with {text!r}")
    suggested = [line[len("next: "):] for line in lines if line.startswith("next: ")]
    if command is None:
        equal(suggested, [], f"{args}: next commands")
        return out
    equal(lines[-1], f"next: {suggested[-1] if suggested else ''}", f"{args}: the last line")
    equal(len(suggested), 1, f"{args}: number of commands")
    check(re.fullmatch(command, suggested[0]), f"{args}: suggests {suggested[0]!r}")
    if runs:
        equal(run_in_shell(suggested[0]), 0, f"status of {suggested[0]!r}")
    return out


@test
def a_process_opens_with_rss_and_its_largest_part():
    with Target("unbacked", 80 * MIB, 64 * MIB) as target:
        check_report(["-p", target.pid, "--text", "--heap", "off"],
                     rf"target \({target.pid}\).* Rss {AMOUNT}\. Most of it is private anonymous "
                     rf"memory \(the heap is part of it\): {AMOUNT} \(\d+%\)\.",
                     f"memstate heap -p {target.pid}",
                     runs=memstate("heap", "-p", target.pid).status == 0)
        check_report(["map", "-p", target.pid],
                     rf"Rss {AMOUNT} in \d+ mappings\. The largest part is anon: {AMOUNT} \(\d+%\)",
                     f"memstate -p {target.pid}")


@test
def allocated_blocks_lead_to_the_search_for_leaks():
    with LeakTarget("mixed", 60000) as target:
        if memstate("leaks", "-p", target.pid).status != 0:
            raise Skip("heaps cannot be read")
        check_report(["-p", target.pid, "--text"],
                     rf".*Rss {AMOUNT}\. Most of it is allocated blocks: {AMOUNT} \(\d+%\)\.",
                     f"memstate leaks -p {target.pid}")


@test
def the_heap_and_its_leaks_have_conclusions():
    with LeakTarget("mixed", 60) as target:
        if memstate("heap", "-p", target.pid).status != 0:
            raise Skip("heaps cannot be read")
        check_report(["heap", "-p", target.pid],
                     rf"Rss {AMOUNT}\. The heap has {AMOUNT} \(\d+%\) in allocated blocks, {AMOUNT} "
                     rf"in free pages, and {AMOUNT} in free fragments between blocks\.",
                     rf"memstate .*-p {target.pid}.*", skipped=1)
        truth = target.truth
        leaked = truth["direct_count"] + truth["indirect_count"]
        check(leaked > 0, "the target has no leak")
        check_report(["leaks", "-p", target.pid],
                     rf"{AMOUNT} in {leaked} blocks \(\d+% of {AMOUNT} live\) is leaked: no pointer to "
                     "it was found",
                     f"memstate count -p {target.pid} --sample 1B -i 10s -n 1", skipped=1, runs=False)


@test
def a_process_without_leaks_leads_to_its_heap():
    with Target("unbacked", 2 * MIB, MIB) as target:
        if memstate("leaks", "-p", target.pid).status != 0:
            raise Skip("heaps cannot be read")
        check_report(["leaks", "-p", target.pid],
                     rf"{AMOUNT} in \d+ blocks? (is|are) live; no block is leaked\.",
                     f"memstate heap -p {target.pid}", skipped=1)
        # neither rows of zeros nor a second row with the same figures
        rows = memstate("leaks", "-p", target.pid).must_be(0).out.split(b"RESIDENT\n", 1)[1]
        equal([line.split()[0] for line in rows.splitlines() if line[2:6].strip()][:1], [b"live"], "first row")
        check(not re.search(rb"^ +(reachable|leaked|direct|indirect) ", rows, re.M), rows)


@test
def the_largest_leak_decides_the_command():
    with LeakTarget("mixed", 60) as target, Target("unbacked", 2 * MIB, MIB) as other:
        if memstate("leaks", "-p", other.pid).status != 0:
            raise Skip("heaps cannot be read")
        check_report(["leaks", "-p", f"{other.pid},{target.pid}"],
                     rf"1 of 2 processes has leaked blocks: \S+ \({target.pid}, {AMOUNT}\)\.",
                     f"memstate count -p {target.pid} --sample 1B -i 10s -n 1", runs=False)


@test
def a_capture_leads_to_a_command_that_reads_captures():
    with Folder() as folder:
        path = f"{folder}/it's $HOME"
        with Target("unbacked", 2 * MIB, MIB) as target:
            memstate("capture", "-p", target.pid, path).must_be(0)
        quoted = "'" + path.replace("'", r"'\''") + "'"
        for args, command in ((["--text"], f"map --procfs {quoted} -p {target.pid} -s rss"),
                              (["map"], f"--procfs {quoted} -p {target.pid}")):
            check_report([*args, "-p", target.pid, "--procfs", path], ".*Rss ",
                         re.escape(f"memstate {command}"))


@test
def a_command_that_has_ended_leads_to_its_allocations():
    check_report(["--text", "--", "sh", "-c", "sleep 0.2; :"], r"At its largest .* Rss ",
                 "memstate count -- sh -c 'sleep 0.2; :'",
                 runs=memstate("count", "--", "sh", "-c", ":").status == 0)


@test
def counts_lead_to_the_stacks_of_what_is_not_freed():
    program = ["sh", "-c", "echo 'a b' >/dev/null"]
    if memstate("count", "--", *program).status != 0:
        raise Skip("allocations cannot be counted")
    check_report(["count", "--", *program],
                 rf"\d+ allocations? requested {AMOUNT}\. ({AMOUNT} in \d+ blocks? was not|All blocks)",
                 r"memstate count --(live|stacks) -- sh -c 'echo '\\''a b'\\'' >/dev/null'", skipped=1,
                 runs=memstate("count", "--stacks", "--", *program).status == 0)


@test
def a_comparison_of_allocators_opens_with_the_verdict():
    out = check_report(["--preload", "glibc,glibc:arena_max=1", "--runs", "2", "--", "sh", "-c",
                        "sleep 0.1"], r"\S.*\.", r"memstate (count|--preload).* -- sh -c 'sleep 0.1'",
                       runs=False)
    check("\nCommand   sh -c sleep 0.1\n" in out, out)
    check("Verdict " not in out, out)


@test
def differences_of_profiles_lead_to_the_second_one():
    profiles = os.path.join(FIXTURES, "profiles")
    before, after = (os.path.join(profiles, f"{name}.folded") for name in ("before", "after"))
    check_report(["diff", before, after],
                 r"Allocations: \d+ before, \d+ after \(-\d+, -\d+%\)\. The stack that grew most is "
                 r"in \S.*: \+\d+\.", re.escape(f"memstate count --replay {after}"))
    check_report(["diff", after, after],
                 r"Allocations: \d+ before and after\. No stack has grown\.", None)


@test
def growth_between_moments_leads_to_the_process_that_grew():
    with Folder() as folder:
        for name, size in (("before", MIB), ("after", 9 * MIB)):
            with Target("unbacked", 10 * MIB, size) as target:
                memstate("capture", "-p", target.pid, f"{folder}/{name}").must_be(0)
        check_report(["diff", f"{folder}/before", f"{folder}/after"],
                     rf"Rss {AMOUNT} before, {AMOUNT} after \(\+{AMOUNT}\)\. Owner with the "
                     rf"largest growth: anon \(\+{AMOUNT}\)\. Process with the largest growth: target "
                     rf"\({target.pid}, \+{AMOUNT}\)\.",
                     f"memstate --procfs {folder}/after -p {target.pid}")
        check_report(["diff", f"{folder}/after", f"{folder}/after"],
                     rf"Rss {AMOUNT} before, {AMOUNT} after \(unchanged\)\.", None)


@test
def doctor_opens_with_what_is_missing():
    sentence = r"(Everything works|Nothing is missing|Memory can be measured)\S* .*\d+ .*checks"
    with Target("unbacked", 2 * MIB, MIB) as target:
        check_report(["doctor", "-p", target.pid], sentence, f"memstate -p {target.pid}", skipped=1)
        path = os.path.join(FIXTURES, "plain")
        check_report(["doctor", "--procfs", path, "-p", "100"], sentence,
                     f"memstate --procfs {re.escape(path)} -p 100", skipped=1)
    result = memstate("doctor")
    check(re.match(sentence + "|Memory cannot be read", result.out.decode().replace("\n", " ")),
          result.out)


@test
def scripts_get_no_command():
    with Target("unbacked", 2 * MIB, MIB) as target:
        check_report(["map", "-p", target.pid, "--no-headings"], "^ *[0-9a-f]+ ", None)


@test
def a_recording_has_a_conclusion_but_no_command():
    need_built_with("SQLITE")
    with Folder() as folder, Target("unbacked", 2 * MIB, MIB) as target:
        path = f"{folder}/r"
        memstate("-p", target.pid, "--csv", "-n", 1, "-o", "pid,anon_bytes", "--record",
                 path).must_be(0)
        check_report(["--replay", path, "--text", "-p", target.pid], "At .* Rss ", None)


run()
