#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check-oci.sh TARBALL: build the image from the release as contrib/oci/Containerfile
# does, and run it on the processes of this machine.
set -eu

. "$(dirname "$0")/check_lib.sh"
need_root
need buildah buildah
tarball=$(realpath "$1")
oci=$(realpath "$(dirname "$0")/../oci")

# A registry may be out of reach: the base image is made from Debian's packages.
if test -n "${BASE_IMAGE-}"; then
	base=$BASE_IMAGE
else
	need mmdebstrap mmdebstrap
	base=localhost/memstate-check-base
	new_root "$scratch/root" ca-certificates
	umount "$scratch/root/proc"
	container=$(buildah from scratch)
	buildah copy -q "$container" "$scratch/root" / >/dev/null
	buildah commit -q "$container" "$base" >/dev/null
	buildah rm "$container" >/dev/null
fi
cp "$oci/Containerfile" "$tarball" "$scratch/"
buildah build -q --isolation chroot --network host --build-arg "BASE=$base" --build-arg "TARBALL=$(basename "$tarball")" \
	-t localhost/memstate-check "$scratch" >"$scratch/build.log" 2>&1 ||
	{ tail -n 60 "$scratch/build.log" >&2; die "buildah"; }
container=$(buildah from localhost/memstate-check)
image=$(buildah mount "$container")
echo "image: $(du -sm "$image" | cut -f 1) MiB"
mount --bind /proc "$image/proc"
status=0
(use_memstate chroot "$image" /usr/bin/memstate) || status=$?
umount "$image/proc"
buildah umount "$container" >/dev/null
buildah rm "$container" >/dev/null
buildah rmi localhost/memstate-check >/dev/null
test -n "${BASE_IMAGE-}" || buildah rmi "$base" >/dev/null
test $status = 0 || die "the image"
echo "passed: image"
