# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check_lib.sh - shared by the checks of packages. They need root and Debian's mirror, and
# exit with status 77 and the reason if a tool is missing.

scratch=$(mktemp -d)

# Remove everything, also if a step failed.
clean_up()
{
	for mount in $(awk -v top="$scratch/" 'index($2, top) == 1 { print $2 }' /proc/mounts | sort -r); do
		umount "$mount"
	done
	rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

skip()
{
	echo "skipped: $*" >&2
	exit 77
}

die()
{
	echo "failed: $*" >&2
	exit 1
}

# need TOOL PACKAGE: skip the check if the tool is missing.
need()
{
	command -v "$1" >/dev/null || skip "$1 is not installed (package $2)"
}

need_root()
{
	test "$(id -u)" = 0 || skip "only root can make a clean root"
}

# new_root DIR PACKAGE...: unpack a minimal Debian system with packages from the mirror
# that this machine uses.
new_root()
{
	root=$1
	shift
	mmdebstrap --quiet --variant=apt --include="$(echo "$*" | tr ' ' ,)" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" \
		/etc/apt/sources.list.d/debian.sources >&2
	mkdir -p "$root/proc"
	mount -t proc proc "$root/proc"
}

# use_memstate COMMAND...: COMMAND is memstate, with the prefix to run it. Check what a
# user sees: the version, a report, CSV whose states add up to Rss, and an error.
use_memstate()
{
	"$@" --version
	"$@" --text -p $$ | grep Rss || die "no report"
	states=private_dirty,lazyfree,private_clean,shared_dirty,shared_clean
	"$@" --csv -n 1 -p $$ -o rss,$states | awk -F, '
		NR == 2 { found = 1; if ($1 != $2 + $3 + $4 + $5 + $6 || $1 == 0) exit 1 }
		END { exit !found }' || die "the states do not add up to Rss"
	"$@" doctor >/dev/null || die "doctor failed"
	if "$@" --nonsense 2>/dev/null; then
		die "an unknown option was accepted"
	fi
}
