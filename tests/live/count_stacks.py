# SPDX-License-Identifier: GPL-2.0-or-later
"""Call stacks read from a file: what memstate shows and writes, against
sums computed here."""

import json
import os
import random
import re
import resource
import signal
import subprocess
from collections import Counter

from live import MEMSTATE, Folder, check, equal, memstate, run, test

FUNCTIONS = ["main", "parse<int>", "parse<char>", "walk", "walk", "std::copy", "std::move", "xmalloc",
             "operator new(unsigned long)", "libfoo", "gc"]


def make_stacks(seed, count=300):
    """Return random stacks of a recursive program, the same for the same seed."""
    chance = random.Random(seed)
    stacks = Counter()
    for _ in range(count):
        path = tuple(chance.choices(FUNCTIONS, k=chance.randrange(1, 12)))
        stacks[path] += chance.randrange(1, 99)
    return stacks


def write(path, stacks):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"{';'.join(stack)} {number}\n" for stack, number in stacks)


def read_folded(text):
    stacks = Counter()
    for line in text.decode().splitlines():
        names, number = line.rsplit(" ", 1)
        check(tuple(names.split(";")) not in stacks, f"{names}: twice")
        stacks[() if names == "[no stack]" else tuple(names.split(";"))] = int(number)
    return stacks


def count(stacks, *options, status=0):
    with Folder() as folder:
        path = os.path.join(folder, "stacks")
        write(path, stacks.items())
        return memstate("count", "--replay", path, *options).must_be(status).out


@test
def folded_stacks_are_written_as_read():
    stacks = make_stacks(1)
    equal(read_folded(count(stacks, "--folded", "-")), stacks, "stacks")


@test
def output_does_not_depend_on_the_order_of_the_file():
    stacks = make_stacks(2)
    for options in ["--folded", "-"], ["--speedscope", "-"], ["--json"], ["--csv"], ["--text"]:
        outputs = set()
        for seed in range(3):
            order = list(stacks.items())
            random.Random(seed).shuffle(order)
            with Folder() as folder:
                write(os.path.join(folder, "stacks"), order)
                outputs.add(memstate("count", "--replay", os.path.join(folder, "stacks"),
                                     *options).must_be(0).out)
        equal(len(outputs), 1, f"outputs with {options[0]}")


@test
def speedscope_output_follows_its_schema():
    stacks = make_stacks(3)
    said = json.loads(count(stacks, "--speedscope", "-", "--metric", "bytes"))
    equal(said["$schema"], "https://www.speedscope.app/file-format-schema.json", "$schema")
    check(isinstance(said["name"], str) and isinstance(said["exporter"], str),
          "name or exporter is missing")
    frames = said["shared"]["frames"]
    for frame in frames:
        check(isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"},
              f"frame {frame}")
    equal(len(said["profiles"]), 1, "profiles")
    profile = said["profiles"][said["activeProfileIndex"]]
    equal((profile["type"], profile["name"], profile["unit"]), ("sampled", "requested bytes", "bytes"),
          "type, name, unit")
    equal(profile["startValue"], 0, "startValue")
    equal(profile["endValue"], sum(stacks.values()), "endValue")
    equal(len(profile["samples"]), len(profile["weights"]), "samples and weights")
    equal(Counter({tuple(frames[i]["name"] for i in sample): weight
                   for sample, weight in zip(profile["samples"], profile["weights"])}), stacks, "stacks")


@test
def callers_add_up_to_the_totals_of_functions():
    stacks = make_stacks(4)
    said = json.loads(count(stacks, "--json"))
    own, total = Counter(), Counter()
    for stack, number in stacks.items():
        own[stack[-1]] += number
        for name in set(stack):
            total[name] += number
    equal(said["totals"]["allocations"], sum(stacks.values()), "allocations")
    equal({f["function"]: (f["self_allocations"], f["total_allocations"]) for f in said["functions"]},
          {name: (own[name], total[name]) for name in total}, "functions")
    for f in said["functions"]:
        equal(sum(c["total_allocations"] for c in f["callers"]), f["total_allocations"],
              f"callers of {f['function']}")
    selves = [f["self_allocations"] for f in said["functions"]]
    equal(selves, sorted(selves, reverse=True), "order")


@test
def parts_of_a_tree_add_up_even_where_it_is_cut():
    stacks = make_stacks(5)
    for options in [], ["--min", "3"], ["--top", "2"], ["--min", "100"]:
        tree = json.loads(count(stacks, "--json", *options))["tree"]
        parts = Counter({node["id"]: node["self_allocations"] for node in tree})
        for node in tree[1:]:
            check(node["parent"] < node["id"], "a node comes before its parent")
            parts[node["parent"]] += node["total_allocations"]
        for node in tree:
            if node["cut_functions"] == 0:
                equal(parts[node["id"]], node["total_allocations"], f"{options}: node {node['id']}")
        equal(tree[0]["total_allocations"], sum(stacks.values()), "all")
        equal(any(node["cut_functions"] for node in tree), bool(options), f"{options}: cut")


def first(stack, pattern):
    return next((i for i, name in enumerate(stack) if re.search(pattern, name)), None)


def replaced(stack, pattern, text):
    done = []  # names, and whether the rule produced them
    for name in stack:
        new = re.sub(pattern, text, name)
        is_given = bool(re.search(pattern, name))
        if new and not (is_given and done and done[-1] == (new, True)):
            done.append((new, is_given))
    return tuple(name for name, _ in done)


def transformed(stacks, kind, pattern, text):
    done = Counter()
    for stack, number in stacks.items():
        at = first(stack, pattern)
        if (kind == "filter" and at is None) or (kind == "remove" and at is not None):
            continue
        if kind == "replace":
            stack = replaced(stack, pattern, text)
        elif kind == "hide":
            stack = tuple(name for name in stack if not re.search(pattern, name))
        elif kind == "from" and at is not None:
            stack = stack[at:]
        elif kind == "to" and at is not None:
            stack = stack[:at + 1]
        done[stack] += number
    return done


@test
def rules_transform_stacks_as_documented():
    rules = [("filter", "^parse", ""), ("remove", "gc|foo$", ""), ("hide", "^std::", ""), ("hide", ".", ""),
             ("from", "walk", ""), ("to", "^[wx]", ""), ("replace", "<.*>", "<>"),
             ("replace", "^(walk)$", r"\1"), ("replace", "^std::.*$", "std"), ("replace", "^std::.*$", ""),
             ("replace", "([a-z])([a-z])", r"\2\1"), ("replace", "^(operator new.*|xmalloc)$", "A")]
    chance = random.Random(6)
    for seed in range(25):
        chosen = chance.choices(rules, k=chance.randrange(1, 4))
        stacks = made = make_stacks(seed, 60)
        options = []
        for kind, pattern, text in chosen:
            made = transformed(made, kind, pattern, text)
            options += ["--transform", f"{kind} {pattern}" + (f" => {text}" if kind == "replace" else "")]
        equal(read_folded(count(stacks, "--folded", "-", *options)), made, f"{chosen}")


@test
def a_file_that_cannot_be_fully_written_is_unchanged():
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    with Folder() as folder:
        source, target = os.path.join(folder, "stacks"), os.path.join(folder, "out")
        write(source, make_stacks(7).items())
        write(target, [(("old",), 1)])
        for option in "--folded", "--speedscope":
            done = subprocess.run([MEMSTATE, "count", "--replay", source, option, target],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  preexec_fn=limit, check=False)
            equal(done.returncode, 1, f"status with {option}")
            equal(done.stderr, f"memstate: {target}: File too large\n", "message")
            with open(target, encoding="utf-8") as f:
                equal(f.read(), "old 1\n", "content of the file")
        equal(sorted(os.listdir(folder)), ["out", "stacks"], "files")


run()
