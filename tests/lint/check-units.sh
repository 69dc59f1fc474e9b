#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Bytes are bytes: what the kernel calls kB is converted in base/units.c, for the parsers of
# proc/, and nowhere else; the options of other programs have their own suffixes.
set -eu

: "${srcdir:?}"
cd "$srcdir"
! grep -nwiE '1024|kib' src/*.c src/*/*.[ch] | grep -vE '^src/(base/units|classify/runtime_options|proc/[a-z_]*)\.[ch]:'
