#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check-static.sh PROGRAM: the static program works in a root that has nothing but /proc
# and the cgroups.
set -eu

. "$(dirname "$0")/check_lib.sh"
need_root
mkdir -p "$scratch/root/proc" "$scratch/root/sys/fs/cgroup" "$scratch/root/tmp"
cp "$1" "$scratch/root/memstate"
mount -t proc proc "$scratch/root/proc"
mount --rbind --make-rprivate /sys/fs/cgroup "$scratch/root/sys/fs/cgroup"
use_memstate chroot "$scratch/root" /memstate
for command in map heap leaks oom; do
	chroot "$scratch/root" /memstate $command -p $$ >"$scratch/out" || die "$command failed"
	test -s "$scratch/out" || die "$command printed nothing"
done
echo "passed: $1"
