#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# JSON of processes and mappings.
. "${srcdir:?}/tests/cli/golden.sh"

on plain
run -J -p 100
run -J -s pid -o pid,comm,rss_bytes,rss_bytes,live_bytes
run map -J -p 103
run map --json -p worker -o start_addr,name
on names
run -J -s pid -o pid,comm,command
run map -J -p 10 -o name,offset_bytes

finish
