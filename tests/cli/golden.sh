# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# golden: commands on captured trees, and all that they say. Sourced by the tests beside it:
#
#	. "${srcdir:?}/tests/cli/golden.sh"
#	on plain			# tests/fixtures/plain is --procfs from here
#	run --csv -p 100		# memstate --procfs tests/fixtures/plain --csv -p 100
#	finish				# compare with NAME.exp
#
# In NAME.exp a line of standard error begins with "! ". Times and the version are masked.
# MEMSTATE_BLESS=yes writes NAME.exp anew: look at git diff before you commit it.

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
	test -f "$1/ORIGIN" || { echo "$1: no fixture, or one without ORIGIN" >&2; exit 99; }
}

golden_mask()
{
	sed -e 's/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9:]*\.[0-9]*Z/TIME/g' \
		-e 's/"version":"[^"]*"/"version":"VERSION"/' \
		-e 's/"exporter":"memstate [^"]*"/"exporter":"memstate VERSION"/'
}

# A verb stays first: "run map -p 7" is "memstate map --procfs TREE -p 7".
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

# The same of a verb that reads no processes: "run_here count --replay FILE"
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
	echo "$golden_name: not as in $golden_name.exp; with MEMSTATE_BLESS=yes it is written anew" >&2
	exit 1
}
