#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The units in contrib/systemd are valid, and systemd rates the exposure of the services
# below 3 of 10.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
if ! systemd-analyze --help 2>/dev/null | grep -q -- --offline; then
	echo 'systemd-analyze is not installed, or does not have --offline' >&2
	exit 77
fi
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$(command -v "$MEMSTATE")" "$scratch/memstate"
for unit in "$srcdir"/contrib/systemd/*.service "$srcdir"/contrib/systemd/*.socket; do
	sed "s|/usr/bin/memstate|$scratch/memstate|" "$unit" >"$scratch/$(basename "$unit")"
done
printf '[Service]\nExecStart=/bin/true\n' >"$scratch/shop.service"
cd "$scratch"
systemd-analyze verify --man=no ./memstate-exporter.service ./memstate-exporter.socket \
	./memstate-oom-watch@shop.service.service >out 2>&1 || { cat out; status=1; }
test ! -s out || { cat out; status=1; }
for unit in ./*.service; do
	case $unit in ./shop.service) continue ;; esac
	systemd-analyze security --offline=yes --threshold=29 "$unit" >out 2>&1 ||
		{ tail -n 1 out; status=1; }
	grep -q 'Overall exposure level' out || { cat out; status=1; }
done
exit $status
