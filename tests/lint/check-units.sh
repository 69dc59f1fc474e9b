#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All amounts are in bytes. Only base/units.c and the parsers in proc/ convert the
# kernel's kB; options of other programs (runtime_options) have their own suffixes.
set -eu

: "${srcdir:?}"
cd "$srcdir"
# shellcheck disable=SC2046 # names have no blanks
! grep -nwiE '1024|kib' $(find src -name '*.[ch]') | grep -vE '^src/(base/units|classify/oom/runtime_options|proc/[a-z_/]*)\.[ch]:'
