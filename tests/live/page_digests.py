#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each page allows exactly its own style and script, by the digests that the build
computes."""

import base64
import hashlib
import os
import re

from live import MIB, Folder, Target, check, equal, memstate, need_built_with, run, test


def digest(text):
    return base64.b64encode(hashlib.sha256(text).digest())


def check_page(path):
    with open(path, "rb") as file:
        page = file.read()
    policy = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    for element in (b"style", b"script"):
        texts = re.findall(b"<%s>(.*?)</%s>" % (element, element), page, re.DOTALL)
        equal(len(texts), 1, f"{element.decode()} elements of {os.path.basename(path)}")
        check(len(texts[0]) > 1000, f"{element.decode()} of {len(texts[0])} bytes")
        allowed = re.findall(b"%s-src ([^;]*)" % element, policy)
        equal(allowed, [b"'sha256-" + digest(texts[0]) + b"'"], f"allowed {element.decode()} of {path}")


@test
def flame_graph():
    with Folder() as folder:
        path = os.path.join(folder, "flame.html")
        stacks = os.path.join(folder, "stacks.folded")
        with open(stacks, "w", encoding="ascii") as file:
            file.write("main;read_file;malloc 17\n")
        memstate("count", "--replay", stacks, "--flame-graph", path).must_be(0)
        check_page(path)


@test
def comparison():
    with Folder() as folder:
        path = os.path.join(folder, "compare.html")
        memstate("--preload", "glibc,glibc:arena_max=1", "--runs", 1, "--html", path, "--", "true").must_be(0)
        check_page(path)


@test
def recording():
    need_built_with("SQLITE")
    with Folder() as folder, Target("unbacked", 8 * MIB, 6 * MIB) as target:
        file, path = os.path.join(folder, "file.msr"), os.path.join(folder, "page.html")
        memstate("--record", file, "--csv", "-n", 2, "-i", "30ms", "-p", target.pid).must_be(0)
        memstate("--html", path, "--replay", file).must_be(0)
        check_page(path)


run()
