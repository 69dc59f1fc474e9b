#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The manifests in contrib/kubernetes fit the program: its options, its port, its version.
# With kubectl, each overlay is rendered, and adds exactly its own capabilities.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$srcdir/contrib/kubernetes"

complain()
{
	echo "$*"
	status=1
}

"$MEMSTATE" exporter --help >"$scratch/help"
grep -o -e '--[a-z.-]*' base/daemonset.yaml >"$scratch/options"
test -s "$scratch/options" || complain 'no options found'
while read -r option; do
	grep -qF -e "$option " "$scratch/help" || complain "$option: not an option of the exporter"
done <"$scratch/options"
port=$(sed -n 's/.*default localhost:\([0-9]*\).*/\1/p' "$scratch/help")
test "$(grep -c "$port" base/daemonset.yaml)" = 2 || complain "the port is not $port"
grep -q "ListenStream=127.0.0.1:$port" ../systemd/memstate-exporter.socket || complain "the unit's port is not $port"
version=$("$MEMSTATE" --version | sed -n '1s/memstate //p')
grep -q "image: localhost/memstate:$version$" base/daemonset.yaml || complain "the image is not of version $version"

if command -v kubectl >/dev/null && kubectl kustomize perfmon >/dev/null 2>&1; then
	while read -r overlay wanted; do
		kubectl kustomize "$overlay" >"$scratch/out" || complain "$overlay cannot be rendered"
		got=$(sed -n '/ add:/,/ drop:/s/^ *- //p' "$scratch/out" | sort | tr '\n' ' ')
		test "$got" = "$wanted " || complain "$overlay adds '$got', expected '$wanted '"
		grep -q '^ *- ALL$' "$scratch/out" || complain "$overlay does not drop all capabilities"
		grep -q 'honorLabels: true' "$scratch/out" || complain "$overlay has no PodMonitor with honorLabels"
		if grep -q 'privileged: true\|hostNetwork: true' "$scratch/out"; then
			complain "$overlay has more rights than it needs"
		fi
	done <<-END
		perfmon PERFMON
		ptrace SYS_PTRACE
		heap DAC_READ_SEARCH SYS_PTRACE
	END
else
	echo 'kubectl is not installed: the overlays are not rendered' >&2
fi
exit $status
