#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The last section of INTERNALS.md lists the modules, each with the first sentence of its
# header.
set -eu

: "${srcdir:?}"
cd "$srcdir"
page=doc/INTERNALS.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

sh doc/modules.sh >"$scratch/wanted"
sed -n '/^## All modules$/,$p' "$page" >"$scratch/found"
if test -n "${MEMSTATE_BLESS:-}"; then
	sed '/^## All modules$/,$d' "$page" >"$scratch/page"
	cat "$scratch/page" "$scratch/wanted" >"$page"
elif ! diff "$scratch/found" "$scratch/wanted" >&2; then
	echo "$page is out of date: run make bless" >&2
	exit 1
fi
unnamed=$(grep -n '`: *$' "$scratch/wanted" || :)
if test -n "$unnamed"; then
	printf 'headers without "NAME - what it is for.":\n%s\n' "$unnamed" >&2
	exit 1
fi
