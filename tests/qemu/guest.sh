#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run the cgroup tests on a kernel with cgroup version 2, in a qemu guest without KVM or
# network. The disk of the guest holds memstate, the tests and what they need.
# "make check-qemu"; not part of "make check". Prints the tests' own output, one
# line for each.
#
# The kernel is Debian's cloud kernel, downloaded with apt-get and kept in qemu/kernel of
# the build folder, or the package unpacked in the folder MEMSTATE_QEMU_KERNEL. It must
# have NVMe, ext4 and a serial port built in.
set -eu

: "${srcdir:?}" "${builddir:?}" "${MEMSTATE:?}"
here=$srcdir/tests/qemu
work=$builddir/qemu
root=$work/root
limit_s=${MEMSTATE_QEMU_LIMIT_S:-500} # only a guest that hangs takes this long

# The first pass runs all tests, other passes those that depend on their setting.
# MEMSTATE_QEMU_TESTS replaces the tests of the first pass and skips the others.
# MEMSTATE_QEMU_SWAPPED=yes runs only the test of heaps that are swapped out.
# MEMSTATE_QEMU_MIB is the memory of the guest, MEMSTATE_QEMU_LIMIT_S its time limit.
tests="exporter_crun.py exporter_kills.py oom.py oom_disk.py oom_kills.py oom_runtime.py oom_trouble.py oom_v2.py oom_verdicts.py oom_watch.py oom_writer.py"
generations="oom.py"
swap="oom_swap.py"
if test -n "${MEMSTATE_QEMU_TESTS:-}"; then
	tests=$MEMSTATE_QEMU_TESTS
	generations=
	swap=
fi
if test -n "${MEMSTATE_QEMU_SWAPPED:-}"; then
	tests=
	generations=
	swap="heap_swapped.py"
fi
libraries_of_tests="container_lib.py exporter_lib.py inject_lib.py oom_lib.py pre_copy_lib.py schema_lib.py"
classic=$tests

skip()
{
	echo "$*" >&2
	exit 77
}

require()
{
	command -v "$1" >/dev/null || skip "$1 is not installed (package $2)"
}

# ---- the kernel ----------------------------------------------------------------------

# Print the newest kernel package. Names with suffixes are unsigned kernels
# or debug symbols.
kernel_package()
{
	apt-cache search --names-only '^linux-image-[0-9].*-cloud-amd64$' | cut -d ' ' -f 1 | sort -V | tail -n 1
}

unpack_kernel()
{
	require apt-get apt
	package=$(kernel_package)
	test -n "$package" || skip "no package linux-image-*-cloud-amd64 is known to apt"
	rm -rf "$work/package"
	mkdir -p "$work/package"
	(cd "$work/package" && apt-get download "$package" && dpkg-deb -x ./*.deb .) >"$work/apt.log" 2>&1 ||
		skip "$package cannot be downloaded: $(tail -n 1 "$work/apt.log")"
	rm -f "$work"/package/*.deb
	mv "$work/package" "$work/kernel"
}

find_kernel()
{
	kernel=${MEMSTATE_QEMU_KERNEL:-$work/kernel}
	test -e "$kernel" || test -n "${MEMSTATE_QEMU_KERNEL:-}" || unpack_kernel
	vmlinuz=$(echo "$kernel"/boot/vmlinuz-*)
	test -r "$vmlinuz" || skip "$vmlinuz: cannot be read"
}

# ---- the disk ------------------------------------------------------------------------

# Print the files that python3 reads to run these tests: its own, and the
# modules they import.
python_files()
{
	python3 -I - "$@" <<'END'
import ast, importlib, os, sys, sysconfig
for path in sys.argv[1:]:
    for node in ast.walk(ast.parse(open(path).read())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
            [node.module] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            try:
                importlib.import_module(name)
            except ImportError:
                pass  # the tests' own
import ctypes, encodings.ascii, encodings.latin_1, encodings.utf_8, encodings.idna  # noqa: later
print(os.path.realpath(sys.executable))
print(os.path.join(sysconfig.get_path("stdlib"), "os.py"))
for module in list(sys.modules.values()):
    for path in (getattr(module, "__file__", None), getattr(module, "__cached__", None)):
        if path and os.path.exists(path):
            print(path)
END
}

# Print the libraries of the programs in $work/binaries, and of those that memstate
# loads on demand.
libraries()
{
	ldconfig -p | sed -n 's/^[^/]*lib\(elf\|gcc_s\|microhttpd\|sqlite3\)\.so\.[0-9]* .*x86-64.*=> //p' | while read -r library; do
		echo "$library"
		ldd "$library"
	done | sed -n 's/^\(.* => \)\?[[:blank:]]*\(\/[^ ]*\).*/\2/p'
	while read -r file; do
		ldd "$file" 2>/dev/null || :
	done <"$work/binaries" | sed -n 's/^\(.* => \)\?[[:blank:]]*\(\/[^ ]*\).*/\2/p'
}

# Copy each file to the same path in the root of the guest.
copy()
{
	sort -u | while read -r file; do
		mkdir -p "$root${file%/*}"
		cp -pL "$file" "$root$file"
	done
}

# Copy the zram module and its dependencies.
copy_modules()
{
	modules=$(echo "$kernel"/lib/modules/*)
	to=$root/lib/modules/${modules##*/}
	mkdir -p "$to/kernel/drivers"
	cp "$modules"/modules.* "$to"
	cp -r "$modules"/kernel/mm "$modules"/kernel/crypto "$modules"/kernel/lib "$to/kernel"
	cp -r "$modules"/kernel/drivers/block "$to/kernel/drivers"
}

make_disk()
{
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/run"
	cp "$(command -v busybox)" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	cp "$here/init" "$here/hold_perf_event.py" "$root/"
	(cd "$srcdir/tests/live" && python_files live.py $libraries_of_tests $tests $swap "$here/hold_perf_event.py") >"$work/python"
	sed -n '1p; /\.so$/p' "$work/python" >"$work/binaries"
	targets=$builddir/tests/targets
	printf '%s\n' "$MEMSTATE" "$targets/oom_target" "$targets/storm_target" "$targets/pre_copy_tool" \
		"$(command -v unshare)" >>"$work/binaries"
	# the test of its containers is skipped without it
	command -v crun >>"$work/binaries" || :
	if test -n "${MEMSTATE_QEMU_SWAPPED:-}"; then
		for name in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
			ls /usr/lib/x86_64-linux-gnu/lib$name 2>/dev/null >>"$work/binaries" || :
		done
	fi
	{
		cat "$work/python" "$work/binaries"
		libraries
		echo "$builddir/config.h"
		printf "$srcdir/tests/live/%s\n" live.py $libraries_of_tests $tests $swap
	} | copy
	ln -s "$(sed -n 1p "$work/python")" "$root/bin/python3"
	strip "$root$MEMSTATE" 2>/dev/null || :
	copy_modules
	cat >"$root/plan" <<-END
		export srcdir='$srcdir' builddir='$builddir' MEMSTATE='$MEMSTATE'
		classic='$classic' generations='$generations' swap='$swap'
	END
	rm -f "$work/disk"
	mke2fs -q -t ext4 -O ^has_journal -d "$root" "$work/disk" 512M >"$work/mke2fs.log"
}

# ---- the guest -----------------------------------------------------------------------

boot()
{
	timeout "$limit_s" qemu-system-x86_64 -M q35 -accel tcg -cpu max \
		-smp 2 -m "${MEMSTATE_QEMU_MIB:-1024}" \
		-nographic -no-reboot -nic none \
		-kernel "$vmlinuz" -drive "file=$work/disk,format=raw,if=none,id=disk,cache=unsafe" \
		-device nvme,drive=disk,serial=disk \
		-append "console=ttyS0 root=/dev/nvme0n1 rw init=/init panic=-1 no_timer_check quiet loglevel=3 psi=1 cgroup_disable=cpuset" \
		</dev/null 2>&1 | sed -u 's/\r//g' | tee "$work/console" |
		sed -u -n "s/^.*\(guest: begins\)/\1/; /^guest: begins/,\$p" | tee "$work/said"
}

test "$(uname -m)" = x86_64 || skip "the kernel of the guest is for x86_64"
require qemu-system-x86_64 qemu-system-x86
require busybox busybox-static
require python3 python3-minimal
PATH=$PATH:/sbin:/usr/sbin
require mke2fs e2fsprogs
require unshare util-linux
! ldd "$(command -v busybox)" >/dev/null 2>&1 || skip "busybox needs libraries (package busybox-static)"
mkdir -p "$work"
find_kernel
# Boot again if the emulator failed, not a test. An emulated machine can stop early when
# the host is busy. And qemu 7.2 sometimes executes an int3 instruction that the guest's
# kernel, which patches its own code, has already replaced: it stops with "Oops: int3".
# Therefore, the kernel must not patch frequently executed code during the tests.
# hold_perf_event.py prevents patches of the scheduler. The kernel patches the page
# allocator when the first cgroup with a cpuset is created, and when the last one is
# removed. crun gives its containers a cpuset, unless cpusets are disabled.
for _ in 1 2 3; do
	make_disk
	boot
	grep -q 'Oops: int3' "$work/console" || test ! -s "$work/said" || break
done
rm -rf "$root" "$work/disk"
grep -q '^guest: ends$' "$work/said" || {
	tail -n 20 "$work/console"
	echo "the guest did not finish"
	exit 1
}
echo "$(grep -c '^PASS: ' "$work/said") passed, $(grep -c '^FAIL: ' "$work/said") failed"
! grep -q '^FAIL: ' "$work/said" && grep -q '^PASS: ' "$work/said"
