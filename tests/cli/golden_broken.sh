#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged captures: each figure shown is correct, and missing figures are reported.
. "${srcdir:?}/tests/cli/golden.sh"

on broken
run -s pid
run --csv -s pid \
	-o pid,comm,rss_bytes,private_dirty_bytes,uss_bytes,anon_bytes,unexplained_bytes
run -p 10,12
run -p 12
run -p 13
run -p 14
run -p 15
run -p 16
run -p 17
run map -p 12
run map -p 13 --csv
run map -p 10,14 -J -o rss_bytes
run map -p 17
on broken-stat
run -s pid
run -p 18
run --csv -p 18,10 -o pid,comm,rss_bytes
run map -p 18

finish
