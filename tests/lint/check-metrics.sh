#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memstate-metrics(7) is what doc/metrics_page.sh makes of the table of metric families.
# memstate-exporter(1) describes the collectors in this table.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
page=$srcdir/doc/memstate-metrics.7
if ! sh "$srcdir/doc/metrics_page.sh" "$MEMSTATE" | diff "$page" - >&2; then
	echo "$page is out of date: run doc/metrics_page.sh build/memstate >doc/memstate-metrics.7" >&2
	exit 1
fi

page=$srcdir/doc/memstate-exporter.1
described=$(sed -n '/^\.BI collect\[\]/,/^\.RE/s/^\.B \([a-z]*\)$/\1/p' "$page" | sort)
collectors=$("$MEMSTATE" exporter --list-metrics | cut -f 7 | sort -u)
if test "$described" != "$collectors"; then
	printf '%s: the collectors are\n%s\ninstead of\n%s\n' "$page" "$described" "$collectors" >&2
	exit 1
fi
