#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The pictures in doc/pictures show the recorded screens.
set -eu

: "${srcdir:?}"
command -v python3 >/dev/null || { echo "no python3" >&2; exit 77; }
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
sh "$srcdir/contrib/pictures/draw.sh" "$drawn"
test -s "$drawn/process-dark.svg" || { echo "no picture was drawn" >&2; exit 99; }
if ! diff -r "$srcdir/doc/pictures" "$drawn"; then
	echo "doc/pictures is out of date; run 'make -C build pictures'" >&2
	exit 1
fi
