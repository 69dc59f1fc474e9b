# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Golden tests: run commands on captured trees and compare everything they print.
# The test scripts in this folder source this file:
#
#	. "${srcdir:?}/tests/cli/golden.sh"
#	on plain			# tests/fixtures/plain is --procfs from now on
#	run --csv -p 100		# memstate --procfs tests/fixtures/plain …
#	finish				# compare with NAME.exp
#
# Lines of standard error start with "! " in NAME.exp. Times and the version are masked.
# MEMSTATE_BLESS=yes rewrites NAME.exp: look at git diff before you commit it.

: "${srcdir:?}" "${MEMSTATE:?}"
LC_ALL=C TZ=UTC0 COLUMNS=100
export LC_ALL TZ COLUMNS
unset NO_COLOR || :
golden_name=$(basename "$0" .sh)
golden_dir=$(mktemp -d) || exit 99
trap 'rm -rf "$golden_dir"' EXIT
cd "$srcdir/tests/fixtures" || exit 99
: >"$golden_dir/all"

on()
{
	golden_tree=$1
	test -f "$1/ORIGIN" || { echo "$1: not a fixture, or it lacks ORIGIN" >&2; exit 99; }
}

golden_mask()
{
	sed -e 's/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9:]*\.[0-9]*Z/TIME/g' \
		-e 's/"version":"[^"]*"/"version":"VERSION"/' \
		-e '/^memstate_build_info/s/"[^"]*"/"TEXT"/g' \
		-e '/^\(process_\|memstate_\(collect_[dct]\|target_\|group_[oa][lg]\)\)/s/ [0-9.]*$/ N/' \
		-e 's/"exporter":"memstate [^"]*"/"exporter":"memstate VERSION"/'
}

# A verb comes first: "run map -p 7" runs "memstate map --procfs TREE -p 7".
run()
{
	{
		echo "\$ memstate $*"
		case ${1:-} in
		-* | '') "$MEMSTATE" --procfs "$golden_tree" "$@" ;;
		*)
			golden_verb=$1
			shift
			"$MEMSTATE" "$golden_verb" --procfs "$golden_tree" "$@"
			;;
		esac </dev/null >"$golden_dir/out" 2>"$golden_dir/err"
		golden_status=$?
		golden_mask <"$golden_dir/out"
		sed 's/^/! /' "$golden_dir/err"
		echo "[exit $golden_status]"
		echo
	} >>"$golden_dir/all"
}

# Like run(), for verbs that read no processes: "run_here count --replay FILE"
run_here()
{
	{
		echo "\$ memstate $*"
		"$MEMSTATE" "$@" </dev/null >"$golden_dir/out" 2>"$golden_dir/err"
		golden_status=$?
		golden_mask <"$golden_dir/out"
		sed -e "s|$golden_dir|SCRATCH|g" -e 's/^/! /' "$golden_dir/err"
		echo "[exit $golden_status]"
		echo
	} >>"$golden_dir/all"
}

finish()
{
	golden_exp=$srcdir/tests/cli/$golden_name.exp
	if test "${MEMSTATE_BLESS:-}" = yes; then
		cp "$golden_dir/all" "$golden_exp"
		exit 0
	fi
	diff -u "$golden_exp" "$golden_dir/all" && exit 0
	echo "$golden_name: output differs from $golden_name.exp; MEMSTATE_BLESS=yes rewrites it" >&2
	exit 1
}
