#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every file of the repository is in the release, and every test script runs.
set -eu

: "${srcdir:?}" "${builddir:?}" "${MAKE:?}"
cd "$srcdir"
if ! test -e .git || ! git ls-files >/dev/null 2>&1; then
	echo "not a git checkout: the files of the release are unknown" >&2
	exit 77
fi
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# This make must not use the job server of the calling make.
list()
{
	MAKEFLAGS='' "$MAKE" -s --no-print-directory -C "$builddir" "$1" | sort -u
}

# A listed folder includes all files in it.
list list-dist >"$scratch/dist"
git ls-files | while read -r file; do
	case $file in
	.gitignore | .gitattributes | .editorconfig) continue ;;
	.clang-format | .clang-tidy | .ci/*) continue ;;
	esac
	path=$file
	until grep -qxF -e "$path" "$scratch/dist"; do
		case $path in
		*/*) path=${path%/*} ;;
		*)
			echo "$file: not in the release; add it to a local.mk"
			break
			;;
		esac
	done
done >"$scratch/missing"

# Libraries and coverage.sh are not tests. tests/bench and tests/qemu are run by hand.
list list-tests >"$scratch/tests"
git ls-files 'tests/*.sh' 'tests/*.py' 'tests/*.keys' |
	while read -r file; do
		case $file in
		tests/bench/* | tests/qemu/* | tests/coverage.sh) continue ;;
		*/golden.sh | */*_lib.sh | */*_lib.py | */live.py) continue ;;
		esac
		grep -qxF -e "$file" "$scratch/tests" || echo "$file: not in TESTS"
	done >>"$scratch/missing"

test -s "$scratch/tests" || { echo "no tests are listed"; status=1; }
test ! -s "$scratch/missing" || { cat "$scratch/missing"; status=1; }
exit $status
