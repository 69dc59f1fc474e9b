#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile names of processes and files: no control character reaches the terminal.
. "${srcdir:?}/tests/cli/golden.sh"

on names
run -s pid
run --csv -s pid -o pid,comm,command
run -p 10
run map -p 10
run map -p 10 --csv
run -p 'a) S 1 (' -o pid,comm
run -p '=1+1' -o pid,comm
run -p "$(printf 'no\033[31mbody')"
LC_ALL=C.UTF-8
run -s pid
run map -p 10

finish
