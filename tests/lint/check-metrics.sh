#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memstate-metrics(7) is what doc/metrics_page.sh makes of the table of metric families.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
page=$srcdir/doc/memstate-metrics.7
if ! sh "$srcdir/doc/metrics_page.sh" "$MEMSTATE" | diff "$page" - >&2; then
	echo "$page is out of date: run doc/metrics_page.sh build/memstate >doc/memstate-metrics.7" >&2
	exit 1
fi
