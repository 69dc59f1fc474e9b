#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/schema/columns.json follows the tables of columns ('make schema' writes it), and
# each report named in the sources has a schema.
set -eu

: "${srcdir:?}" "${builddir:?}"
status=0
folder=$srcdir/doc/schema

if ! "$builddir/tests/lint/list_columns" | diff "$folder/columns.json" -; then
	echo "columns.json differs from the tables of columns; run 'make schema'"
	status=1
fi
reports=$(grep -rhoE 'json_begin_report\([^,]+, "[a-z-]+"' "$srcdir/src" | sed 's/.*"\(.*\)"/\1/' | sort)
test -n "$reports" || { echo "no report found in the sources"; status=1; }
listed=$(ls "$folder" | sed 's/\.json$//' | grep -vxE 'common|columns' | sort)
if test "$reports" != "$listed"; then
	echo "reports in the sources:" $reports
	echo "schemas in doc/schema: " $listed
	status=1
fi
exit $status
