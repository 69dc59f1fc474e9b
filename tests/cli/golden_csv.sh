#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CSV of processes: columns, sorting, headings, unknown values.
. "${srcdir:?}/tests/cli/golden.sh"

on plain
run --csv -p 100
run --csv -s pid -o pid,ppid,comm,threads,rss_bytes,unexplained_bytes
run --csv -s -rss_bytes -o pid,rss_bytes
run --csv -p 100 -o +mappings,unexplained_bytes --no-headings
run --csv -p 101,102,200 -o pid,pid,command,size_bytes -s command
run --csv -p 100 -t -s pid -o pid,ppid,state
run --csv -p 100 -o pid,private_clean_bytes,lazyfree_bytes,source
run --csv -p 100 -o pid,rss_bytes,source
run --csv -p 100 -o pid,size_bytes,source
run --csv -p 300,2 -o pid,state,rss_bytes,live_bytes,unbacked_bytes,mappings
run --csv -p 300 --output-all -n 1
run --csv -p 100 -o pid -n 3

finish
