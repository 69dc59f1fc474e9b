#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Tables of processes, and the report on a single process.
. "${srcdir:?}/tests/cli/golden.sh"

on plain
run -s pid
run -b -s pid
run -p 100 --text
run -p 100 --text -b
run -p 300
run -p 2
run heap -p 2
run leaks -p 2
run explain -p 2 1000
run -p worker
run -p helper
run -p helper,7 --text
run -p 100 -t -s pid
run -p 100 -o pid,rss_bytes,command
run -o command,rss_bytes -b -s pid
run -s -pid --no-headings
COLUMNS=40 export COLUMNS
run -s pid -o pid,command
run -s pid -o user,comm,size_bytes -b
run -p 100

finish
