#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Older kernels lack fields, which are unknown rather than 0. Extra fields of newer
# kernels are ignored.
. "${srcdir:?}/tests/cli/golden.sh"

on old-kernel
run -s pid
run --csv -s pid
columns=referenced_bytes,anonymous_bytes,locked_bytes
columns=$columns,anon_lazyfree_bytes,anon_private_clean_bytes
run --csv -s pid -o "+$columns"
run -p 10
run -p 11
run map -p 10
run map -p 11 --csv --output-all
run -J -p 10
on newer-kernel
run -s pid
run -p 10
run --csv -o +unexplained_bytes
run map -p 10

finish
