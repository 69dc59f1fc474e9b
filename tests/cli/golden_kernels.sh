#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Older kernels have fewer fields: unknown, and not 0. Newer ones have more: passed over.
. "${srcdir:?}/tests/cli/golden.sh"

on old-kernel
run -s pid
run --csv -s pid
run --csv -s pid -o +referenced_bytes,anonymous_bytes,locked_bytes,anon_lazyfree_bytes,anon_private_clean_bytes
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
