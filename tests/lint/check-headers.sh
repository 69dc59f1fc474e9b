#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header compiles on its own, after config.h.
set -eu

: "${srcdir:?}" "${builddir:?}" "${CC:?}"
cd "$srcdir"
# Each run of the compiler checks several files: the time is spent on starting it.
# CC and CPPFLAGS may consist of several words.
# shellcheck disable=SC2086
find src -name '*.h' -print0 | xargs -0 -n 8 $CC $CPPFLAGS -std=gnu11 -Wall -Wextra -Werror \
	-Wno-unused-function -fsyntax-only -include "$builddir/config.h" -I src -x c
