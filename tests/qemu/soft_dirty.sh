#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run tests/live/soft_dirty.py in the guest of guest.sh, whose kernel has soft-dirty bits.
# "make check-qemu"; not part of "make check".
set -eu

: "${srcdir:?}"
MEMSTATE_QEMU_TESTS=soft_dirty.py MEMSTATE_QEMU_MIB=2048 MEMSTATE_QEMU_LIMIT_S=900
export MEMSTATE_QEMU_TESTS MEMSTATE_QEMU_MIB MEMSTATE_QEMU_LIMIT_S
exec "$srcdir/tests/qemu/guest.sh"
