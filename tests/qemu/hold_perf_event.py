# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold a perf event of a task open as long as the guest runs.

memstate briefly opens such an event when it reads the kernel log. The kernel patches its
scheduler when the first event is opened, and again when the last event is closed
(perf_sched_events in kernel/events/core.c). qemu 7.2 sometimes executes an int3
instruction that the kernel has already replaced, and the guest stops with "Oops: int3".
While one event is open, the kernel does not patch the scheduler.
"""

import ctypes
import os
import signal
import struct

SYS_PERF_EVENT_OPEN = 298  # x86_64
PERF_TYPE_SOFTWARE = 1
PERF_COUNT_SW_DUMMY = 9
SIZE = 64  # PERF_ATTR_SIZE_VER0: the first version of struct perf_event_attr

libc = ctypes.CDLL(None, use_errno=True)
attributes = struct.pack("=IIQ", PERF_TYPE_SOFTWARE, SIZE, PERF_COUNT_SW_DUMMY).ljust(SIZE, b"\0")
if libc.syscall(SYS_PERF_EVENT_OPEN, attributes, 0, -1, -1, ctypes.c_ulong(0)) < 0:
    print(f"guest: perf_event_open: {os.strerror(ctypes.get_errno())}", flush=True)
signal.pause()
