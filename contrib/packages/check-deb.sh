#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check-deb.sh TARBALL: build the Debian packages from the release, check them with
# lintian, and install, run, upgrade and purge them in a clean root.
set -eu

. "$(dirname "$0")/check_lib.sh"
need_root
need dpkg-buildpackage dpkg-dev
need dh debhelper
need lintian lintian
need mmdebstrap mmdebstrap
tarball=$(realpath "$1")
name=$(basename "$tarball" .tar.xz)
version=${name#memstate-}

cp "$tarball" "$scratch/memstate_$version.orig.tar.xz"
tar -C "$scratch" -xf "$tarball"
(cd "$scratch/$name" && dpkg-buildpackage -us -uc) >"$scratch/build.log" 2>&1 ||
	{ tail -n 60 "$scratch/build.log" >&2; die "dpkg-buildpackage"; }
echo "built:"
ls "$scratch"/*.deb | sed 's|.*/|  |'
lintian --tag-display-limit 0 --fail-on error,warning "$scratch"/*.changes || die "lintian"

# The packages that memstate and its exporter depend on: the root knows no mirror.
new_root "$scratch/root" libncursesw6 libproc2-0 libmicrohttpd12 libyaml-0-2
cp "$scratch"/memstate*_*.deb "$scratch/root/tmp/"
rm -f "$scratch/root/tmp/"*dbgsym*
find "$scratch/root" -xdev \( -type f -o -type l \) ! -path '*/var/*' | sort >"$scratch/before"

# The second version differs only in its number.
chroot "$scratch/root" sh -c 'apt-get install -y --no-install-recommends /tmp/memstate*.deb' \
	>"$scratch/install.log" 2>&1 || { cat "$scratch/install.log" >&2; die "install"; }
use_memstate chroot "$scratch/root" memstate
test -e "$scratch/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/memstate/libmemstate-count.so" ||
	die "the libraries for other processes are not in the folder of their architecture"
for deb in "$scratch/root/tmp/"memstate*.deb; do
	dpkg-deb -R "$deb" "$scratch/raw"
	sed -i "s/$version-1/$version-2/" "$scratch/raw/DEBIAN/control"
	dpkg-deb -b "$scratch/raw" "$scratch/root/tmp/$(basename "$deb" | sed "s/$version-1/$version-2/")" >/dev/null
	rm -rf "$scratch/raw" "$deb"
done
chroot "$scratch/root" sh -c 'apt-get install -y --no-install-recommends /tmp/memstate*.deb' \
	>"$scratch/upgrade.log" 2>&1 || { cat "$scratch/upgrade.log" >&2; die "upgrade"; }
chroot "$scratch/root" dpkg-query -W -f '${Package} ${Version}\n' 'memstate*' | grep -F "$version-2" ||
	die "not upgraded"
use_memstate chroot "$scratch/root" memstate
chroot "$scratch/root" sh -c 'apt-get purge -y "memstate*" && rm -f /tmp/*.deb' >/dev/null 2>&1 || die "purge"
find "$scratch/root" -xdev \( -type f -o -type l \) ! -path '*/var/*' | sort | grep -v '/tmp/memstate.*deb$' >"$scratch/after"
grep -v '/tmp/memstate.*deb$' "$scratch/before" | diff - "$scratch/after" | grep -i memstate && die "files remain after purge"
echo "passed: Debian packages"
