#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header compiles on its own, after config.h.
set -eu

: "${srcdir:?}" "${builddir:?}" "${CC:?}"
cd "$srcdir"
status=0
# shellcheck disable=SC2044 # names have no blanks
for header in $(find src -name '*.h'); do
	# CC and CPPFLAGS may consist of several words.
	# shellcheck disable=SC2086
	$CC $CPPFLAGS -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
		-include "$builddir/config.h" -I src -x c "$header" || status=1
done
exit $status
