#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The mappings of a process: tables and CSV.
. "${srcdir:?}/tests/cli/golden.sh"

on plain
run map -p 100
run map -p 100 -s rss_bytes -o start_addr,rss_bytes,name
run map -p 100 -s -rss_bytes -o rss_bytes,start_addr -b --no-headings
run map -p 100 --csv
run map -p 100 --csv -o +inode
run map -p worker -o start_addr,rss_bytes,owner
run map -p worker --csv
run map -p 300
run map
run map -p 100,9 -o rss_bytes,perms
run map -p 9
run map -p 100 -o no_such
run map -p 100 -s no_such
run map 100
run map -p 100 -i 1
run map -p 100 -- true

finish
