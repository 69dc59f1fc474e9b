# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of live blocks and use of heap pages match what the program reports."""

import json
import os
import shutil
import subprocess

from live import (Folder, Skip, as_nobody, check, equal, memstate, parse_csv, run, test)

TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
FILLS = {"none": "0%", "to25": "1-25%", "to50": "26-50%", "to75": "51-75%", "to99": "76-99%",
         "all": "100%"}
# Names as compilers write them, which memstate shows if built without libiberty.
MANGLED = {"shapes::Circle": "_ZTVN6shapes6CircleE",
           "shapes::Polygon<unsigned long, 5>": "_ZTVN6shapes7PolygonImLi5EEE",
           "shapes::Polygon<char, 40>": "_ZTVN6shapes7PolygonIcLi40EEE",
           "shapes::(anonymous namespace)::Hidden": "_ZTVN6shapes12_GLOBAL__N_16HiddenE",
           "Labelled": "_ZTV8Labelled", "Diamond": "_ZTV7Diamond",
           "std::bad_alloc": "_ZTVSt9bad_alloc"}


def has(what):
    with open(os.path.join(os.environ["builddir"], "config.h"), encoding="utf-8") as f:
        return f"#define HAVE_{what} 1\n" in f.read()


class Waiting:
    """A target that has printed its figures and waits for its input to end."""

    def __init__(self, path, *args, **popen):
        if not os.path.exists(path):
            raise Skip(f"{os.path.basename(path)} was not built: no C++ compiler")
        self.process = subprocess.Popen([path, *[str(a) for a in args]], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, **popen)
        self.lines = []
        for line in self.process.stdout:
            if line == b"ready\n":
                break
            self.lines.append(line.decode().rstrip("\n"))
        else:
            status = self.process.wait()
            if status == 77:
                raise Skip("not available here")
            raise AssertionError(f"target: status {status}")
        self.pid = int([line for line in self.lines if line.startswith("pid ")][0].split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def types(self):
        """Return {name: (count, bytes)} of C++ objects and {size: (count, bytes)}
        of other blocks."""
        named, plain = {}, {}
        for line in self.lines:
            words = line.split(" ", 2)
            if words[0] == "pid":
                continue
            amount = (int(words[0]), int(words[1]))
            if words[2].startswith("- "):
                plain[int(words[2][2:])] = amount
            else:
                named[words[2]] = amount
        return named, plain


def read_heap(pid, **popen):
    heap = json.loads(memstate("heap", "-p", pid, "-J", **popen).must_be(0).out)
    equal(heap["heap_quality"], "exact", "quality")
    return heap


def check_sums(heap):
    """Check what holds for any glibc heap."""
    live = sum(t["live_count"] for t in heap["types"])
    equal(live, sum(a["live_count"] for a in heap["arenas"]) + heap["mapped_count"], "live blocks")
    # a chunk is its block and one word; a mapped chunk has two words, and may begin later
    # in its mapping
    usable = sum(t["live_bytes"] + 8 * t["live_count"] for t in heap["types"])
    chunks = sum(a["live_bytes"] for a in heap["arenas"]) + heap["mapped_bytes"]
    check(usable <= chunks, f"{usable} usable bytes in chunks of {chunks}")
    if heap["mapped_count"] == 0:
        equal(usable, chunks, "bytes of live blocks, with their words")
    pages = {p["in_use"]: p for p in heap["pages"]}
    equal(list(pages), list(FILLS.values()), "classes of pages")
    equal(pages["0%"]["free_bytes"], heap["pool_pages_resident_bytes"], "pool_pages")
    equal(pages["0%"]["free_bytes"], 4096 * pages["0%"]["pages"], "free bytes in free pages")
    equal(pages["100%"]["free_bytes"], 0, "free bytes in full pages")
    equal(sum(p["free_bytes"] for p in heap["pages"]) - pages["0%"]["free_bytes"],
          heap["pool_fragments_resident_bytes"], "pool_fragments")
    equal(sum(m["free_bytes"] for m in heap["map"]), sum(p["free_bytes"] for p in heap["pages"]),
          "free bytes on the map")
    for m in heap["map"]:
        equal(len(m["used_percent"]), -(-m["pages"] // m["pages_per_cell"]), "cells of the map")
    for t in heap["types"]:
        check(t["resident_bytes"] <= t["live_bytes"], "more resident bytes than live bytes")
        check(t["pinned_alone_pages"] <= t["pinned_pages"] <= heap["fragmented_pages"], str(t))
        check(t["pinning_count"] <= t["live_count"], str(t))


def check_types(target, knows_types=True, **popen):
    heap = read_heap(target.pid, **popen)
    check_sums(heap)
    named = {t["name"]: (t["live_count"], t["live_bytes"]) for t in heap["types"] if t["name"]}
    sized = {t["size_bytes"]: (t["live_count"], t["live_bytes"])
             for t in heap["types"] if not t["name"]}
    true_named, true_sized = target.types()
    for size, amount in true_sized.items():
        equal(sized.get(size), amount, f"blocks of {size} bytes")
    if not knows_types:
        equal({n for n in named if n in true_named and n != "std::bad_alloc"}, set(),
              "types in a build that cannot know them")
        return
    if not has("LIBIBERTY"):
        true_named = {MANGLED[name]: amount for name, amount in true_named.items()}
    equal(named, true_named, "types")


def strip(path):
    if not shutil.which("strip"):
        raise Skip("strip is not installed")
    subprocess.run(["strip", path], check=True)


@test
def objects_have_the_types_of_their_classes():
    for program in ("types_target", "types_target_fixed"):
        with Waiting(os.path.join(TARGETS, program)) as target:
            check_types(target)


@test
def a_stripped_program_still_has_types():
    for program in ("types_target", "types_target_fixed"):
        with Folder() as folder:
            path = shutil.copy(os.path.join(TARGETS, program), folder)
            strip(path)
            with Waiting(path) as target:
                check_types(target)


@test
def classes_without_rtti_are_identified_by_symbols():
    program = os.path.join(TARGETS, "types_target_bare")
    with Waiting(program) as target:
        check_types(target, knows_types=has("LIBELF"))
    with Folder() as folder:
        path = shutil.copy(program, folder)
        strip(path)
        with Waiting(path) as target:
            check_types(target, knows_types=False)


@test
def a_deleted_or_replaced_program_keeps_its_types():
    program = os.path.join(TARGETS, "types_target_bare")
    other = os.path.join(TARGETS, "pins_target")
    for replaced in (False, True):
        with Folder() as folder:
            path = shutil.copy(program, folder)
            with Waiting(path) as target:
                if replaced:
                    os.rename(shutil.copy(other, folder), path)
                else:
                    os.unlink(path)
                check_types(target, knows_types=has("LIBELF"))


@test
def types_are_known_to_an_ordinary_user():
    nobody = as_nobody()
    with Folder() as folder:
        os.chmod(folder, 0o755)
        path = shutil.copy(os.path.join(TARGETS, "types_target_bare"), folder)
        try:
            target = Waiting(path, preexec_fn=nobody)
        except PermissionError as error:
            raise Skip(f"user nobody cannot enter {folder}") from error
        with target:
            check_types(target, knows_types=has("LIBELF"), preexec_fn=nobody)


SWIFT_SIZE, OBJC_SIZE = 72, 88


def swift_folder(folder, script):
    path = os.path.join(folder, "swift")
    with open(path, "w", encoding="utf-8") as f:
        f.write(script)
    os.chmod(path, 0o755)
    return {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}


@test
def swift_and_objective_c_classes_are_identified_by_symbols():
    if not has("LIBELF") or not shutil.which("objcopy"):
        raise Skip("built without libelf, or objcopy is not installed")
    with Folder() as folder:
        path = shutil.copy(os.path.join(TARGETS, "types_target"), folder)
        subprocess.run(["objcopy", "--redefine-sym", "swift_class=$s4main3FooCN",
                        "--redefine-sym", "objc_class=_OBJC_CLASS_Bar", path], check=True)
        swift = ('#!/bin/sh\ntest "$*" = "demangle --compact" || exit 1\n'
                 "while read -r name; do echo \"type metadata for <$name>\"; done\n")
        with Waiting(path) as target:
            for script, name in ((swift, "<$s4main3FooCN>"), ("#!/bin/sh\nexit 1\n", None),
                                 ("#!/bin/sh\nexec sleep 100\n", None),
                                 ("#!/bin/sh\nexec yes\n", None)):
                heap = read_heap(target.pid, env=swift_folder(folder, script))
                types = {t["name"]: t for t in heap["types"] if t["name"]}
                swift_type = types.get(name or "$s4main3FooCN")
                check(swift_type, f"{script!r}: {list(types)}")
                equal(swift_type["size_bytes"], SWIFT_SIZE, "size of Swift's")
                equal(swift_type["live_count"], 40, "objects of Swift")
                equal(types["Bar"]["size_bytes"], OBJC_SIZE, "size of Objective-C's")
                equal(types["Bar"]["live_count"], 50, "objects of Objective-C")


@test
def page_usage_and_pinning_match_the_program():
    number = 3000
    with Waiting(os.path.join(TARGETS, "pins_target"), number) as target:
        truth = {k: int(v) for k, v in (line.split() for line in target.lines)}
        heap = read_heap(target.pid)
        check_sums(heap)
        pages = {p["in_use"]: p["pages"] for p in heap["pages"]}
        equal(pages, {fill: truth[key] for key, fill in FILLS.items()}, "pages in use")
        types = {t["size_bytes"]: t for t in heap["types"]}
        third = number // 3
        for size in (24, 40):
            equal(types[size]["pinned_pages"], 2 * third, f"pages with {size} bytes")
            equal(types[size]["pinning_count"], 2 * third, f"blocks of {size} bytes on them")
            equal(types[size]["pinned_alone_pages"], third, f"pages with blocks of {size} bytes only")
        equal(heap["fragmented_pages"], truth["to25"] + truth["to50"], "fragmented pages")


@test
def csv_rows_match_json():
    with Waiting(os.path.join(TARGETS, "pins_target"), 300) as target:
        heap = read_heap(target.pid)
        rows = parse_csv(memstate("heap", "-p", target.pid, "--csv").must_be(0).out)
        types = [r for r in rows if r["kind"] == "type" and r["state"] == "live"]
        equal([(int(r["count"]), int(r["bytes"])) for r in types],
              [(t["live_count"], t["live_bytes"]) for t in heap["types"]], "types")
        alone = [r for r in rows if r["state"] == "pinned_alone"]
        equal([(int(r["count"]), int(r["bytes"])) for r in alone],
              [(t["pinned_alone_pages"], 4096 * t["pinned_alone_pages"])
               for t in heap["types"] if t["pinned_pages"] > 0], "pages that a type is alone on")
        pages = [r for r in rows if r["kind"] == "page" and r["state"] == "resident"]
        equal([(r["name"], int(r["count"])) for r in pages],
              [(p["in_use"], p["pages"]) for p in heap["pages"]], "pages")
        top = parse_csv(memstate("heap", "-p", target.pid, "--csv", "--top", "1").must_be(0).out)
        equal(len([r for r in top if r["kind"] == "type" and r["state"] == "live"]), 1, "--top 1")
        bare = memstate("heap", "-p", target.pid, "--csv", "--no-headings").must_be(0).out
        equal(bare.splitlines()[0].split(b",")[0], str(target.pid).encode(), "no headings")


@test
def the_text_shows_types_pages_and_the_map():
    with Waiting(os.path.join(TARGETS, "pins_target"), 300) as target:
        out = memstate("heap", "-p", target.pid, "--top", "1").must_be(0).out.decode()
        check("LIVE BLOCKS" in out and "PAGES IN USE" in out and "ALONE ON" in out, out)
        check("\n  ::::" in out, "the map shows no nearly free pages")
        check("more (--top N)" in out, "omitted rows are not mentioned")


@test
def leaked_objects_have_their_types():
    with Waiting(os.path.join(TARGETS, "types_target"), "forget") as target:
        leaks = json.loads(memstate("leaks", "-p", target.pid, "-J", "--max-pause", "1m")
                           .must_be(0).out)
        found = {}
        for group in leaks["leaked"]:
            count, size = found.get(group["type"], (0, 0))
            found[group["type"]] = (count + group["blocks"], size + group["total_bytes"])
        named, _ = target.types()
        # stale addresses of the kinds created last may remain in memory, so check
        # only these two
        for name in ("shapes::Circle", "Labelled"):
            equal(found.get(name if has("LIBIBERTY") else MANGLED[name]), named[name], name)
        check(None in found, "no block without a type")


run()
