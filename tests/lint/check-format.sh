#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All C files are formatted as clang-format 14 does with .clang-format. Other versions
# format some lines differently.
set -eu

: "${srcdir:?}"
cd "$srcdir"

for tool in clang-format-14 clang-format ''; do
	test -n "$tool" || { echo 'clang-format 14 is not installed' >&2; exit 77; }
	"$tool" --version 2>/dev/null | grep -q ' version 14\.' && break
done

found=$(find src tests contrib \( -name '*.c' -o -name '*.h' \) -print | sort |
	xargs "$tool" --dry-run --ferror-limit=1 2>&1 | grep 'clang-format-violations' || true)
test -z "$found" || { echo "$found"; exit 1; }
