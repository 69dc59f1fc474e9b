#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check-rpm.sh TARBALL: build the RPM packages from the release, check them with rpmlint,
# and run what they contain. On Debian, the dependencies are not checked.
set -eu

. "$(dirname "$0")/check_lib.sh"
need rpmbuild rpm
need rpmlint rpmlint
tarball=$(realpath "$1")
spec=$(realpath "$(dirname "$0")/../rpm/memstate.spec")

rpmlint "$spec" || die "rpmlint"
mkdir -p "$scratch/SOURCES"
cp "$tarball" "$scratch/SOURCES/"
# Debian lacks systemd-rpm-macros, which defines _unitdir.
rpmbuild -bb --nodeps --define "_topdir $scratch" --define '_smp_mflags -j2' \
	--define '_unitdir /usr/lib/systemd/system' \
	--define "debug_package %{nil}" "$spec" >"$scratch/build.log" 2>&1 ||
	{ tail -n 60 "$scratch/build.log" >&2; die "rpmbuild"; }
mkdir "$scratch/root"
for package in "$scratch"/RPMS/*/*.rpm; do
	echo "built: $(basename "$package")"
	(cd "$scratch/root" && rpm2cpio "$package" | cpio -idm --quiet)
done
use_memstate "$scratch/root/usr/bin/memstate"
echo "passed: RPM packages"
