#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memstate doctor on captures. The first is a hand-made capture of an old kernel with
# three processes: a complete one, one without smaps, and a kernel thread.
: "${MEMSTATE:?}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/old/7/task/7" "$dir/old/8" "$dir/old/9" "$dir/old/sys/kernel" "$dir/empty"
cd "$dir" || exit 99

echo 4.4.0-old > old/sys/kernel/osrelease
echo 'SwapTotal: 1048576 kB' > old/meminfo
echo '7 (ok) S 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 2 0 500 4096 1 0' > old/7/stat
echo '-1 0x7ffc5c1cfbb0 0x7fec8c352c17' > old/7/task/7/syscall
cat > old/7/smaps << 'END'
00400000-00401000 r-xp 00000000 fe:00 12                         /bin/x
Rss:                   4 kB
VmFlags: rd ex
7f0000000000-7f0000001000 r-xp 00000000 fe:00 13                 /opt/libjemalloc.so.2
Rss:                   4 kB
VmFlags: rd ex
END
echo '8 (no smaps) S 1 8 8 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500 4096 1 0' > old/8/stat
echo '9 (kthread) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0 0' > old/9/stat

status=0
# compare COMMAND...: compare its output and exit status with standard input
compare()
{
	{
		"$@"
		echo "[exit $?]"
	} 2>&1 | sed 's/"version":"[^"]*"/"version":"VERSION"/' > "$dir/out"
	if ! diff - "$dir/out" > "$dir/diff"; then
		echo "FAIL: $*" >&2
		cat "$dir/diff" >&2
		status=1
	fi
}

compare "$MEMSTATE" doctor --procfs old << 'END'
Memory can be measured. 7 of 9 checks found a limit: kernel, smaps, smaps_rollup, lazyfree,
stack_marks, stack_pointers, all_processes. An arrow marks what to do.

kernel
capture             unknown when, and by which version, the capture was saved (no memstate-capture
                            in it)
kernel              partly  everything needed without further options (Linux 4.4.0-old)
                            -> Linux 4.14 or later
smaps               partly  mappings and the state of their pages (1 of 2 processes)
smaps_rollup        no      totals of a process in one read (0 of 2 processes)
lazyfree            no      the kernel reports memory freed with MADV_FREE (smaps has no LazyFree)
                            -> Linux 4.12; until then clean and LazyFree pages are unknown
stack_marks         no      the kernel marks thread stacks (Linux before 6.7)
                            -> Linux 6.7 with transparent huge pages; until then stacks are
                            identified by guards and stack pointers
stack_pointers      partly  the location of thread stacks (1 of 2 processes)

permissions
all_processes       partly  the memory of every process may be read (1 of 2 processes)

environment
swap                yes     anonymous memory can be swapped out (1.0G)
[exit 0]
END
compare "$MEMSTATE" doctor --procfs old -p 7,8,9 << 'END'
ok (7)
Memory can be measured. 1 of 6 checks found a limit: smaps_rollup.

memory              yes     it has memory of its own (in state S, 2 threads)
smaps               yes     its mappings and the state of their pages (smaps has 2 mappings)
smaps_rollup        no      its totals in one read (smaps_rollup: No such file or directory)
stack_pointers      yes     the location of its threads' stacks (task/7/syscall can be read)
dynamic             yes     its libraries are identified by name (code of 2 files is mapped)
allocator           yes     which malloc it uses (jemalloc: /opt/libjemalloc.so.2 is mapped)

no smaps (8)
Memory cannot be read: the smaps check failed.

memory              yes     it has memory of its own (in state S, 1 thread)
smaps               no      its mappings and the state of their pages (smaps does not exist)
smaps_rollup        no      its totals in one read (smaps_rollup: No such file or directory)
stack_pointers      no      the location of its threads' stacks (task/8/syscall: No such file or
                            directory)
dynamic             unknown its libraries are identified by name (its mappings are unknown)
allocator           unknown which malloc it uses (its mappings are unknown)

kthread (9)
A kernel thread, which has no memory of its own.

memory              no      it has memory of its own (a kernel thread has none)
smaps               unknown its mappings and the state of their pages (there is nothing to read)
smaps_rollup        unknown its totals in one read (there is nothing to read)
stack_pointers      no      the location of its threads' stacks (task/9/syscall: No such file or
                            directory)
dynamic             unknown its libraries are identified by name (its mappings are unknown)
allocator           unknown which malloc it uses (its mappings are unknown)

next: memstate --procfs old -p 7
[exit 3]
END
compare "$MEMSTATE" doctor --procfs old -p kthread -J << 'END'
{"memstate":{"version":"VERSION","schema":1,"report":"doctor"},"pid":9,"comm":"kthread","checks":[{"name":"memory","answer":"no","about":"it has memory of its own","fact":"a kernel thread has none","fix":null},{"name":"smaps","answer":"unknown","about":"its mappings and the state of their pages","fact":"there is nothing to read","fix":null},{"name":"smaps_rollup","answer":"unknown","about":"its totals in one read","fact":"there is nothing to read","fix":null},{"name":"stack_pointers","answer":"no","about":"the location of its threads' stacks","fact":"task/9/syscall: No such file or directory","fix":null},{"name":"dynamic","answer":"unknown","about":"its libraries are identified by name","fact":"its mappings are unknown","fix":null},{"name":"allocator","answer":"unknown","about":"which malloc it uses","fact":"its mappings are unknown","fix":null}]}
[exit 0]
END
compare "$MEMSTATE" doctor --procfs old -p 7,10 -J << 'END'
memstate: 10: no such process
{"memstate":{"version":"VERSION","schema":1,"report":"doctor"},"pid":7,"comm":"ok","checks":[{"name":"memory","answer":"yes","about":"it has memory of its own","fact":"in state S, 2 threads","fix":null},{"name":"smaps","answer":"yes","about":"its mappings and the state of their pages","fact":"smaps has 2 mappings","fix":null},{"name":"smaps_rollup","answer":"no","about":"its totals in one read","fact":"smaps_rollup: No such file or directory","fix":null},{"name":"stack_pointers","answer":"yes","about":"the location of its threads' stacks","fact":"task/7/syscall can be read","fix":null},{"name":"dynamic","answer":"yes","about":"its libraries are identified by name","fact":"code of 2 files is mapped","fix":null},{"name":"allocator","answer":"yes","about":"which malloc it uses","fact":"jemalloc: /opt/libjemalloc.so.2 is mapped","fix":null}]}
[exit 3]
END
compare "$MEMSTATE" doctor --procfs old -p 10 << 'END'
memstate: 10: no such process
[exit 1]
END
compare "$MEMSTATE" doctor --procfs empty << 'END'
memstate: empty: not a mounted proc file system or a capture (no process found)
[exit 1]
END
exit $status
