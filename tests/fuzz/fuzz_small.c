/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is parsed as mountinfo and as /proc/PID/syscall. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "fuzz.h"
#include "proc/process/task.h"
#include "proc/system/mounts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tmpfs_devices devices = TMPFS_DEVICES_INIT;
	struct strbuf text = STRBUF_INIT;
	uint64_t addr = 77;
	int r;

	strbuf_add(&text, data, size);
	proc_mounts_parse(&devices, text.text);
	CHECK(devices.count == 0 || strstr(text.text, "tmpfs "));
	for (size_t i = 0; i < devices.count; i++)
		CHECK(devices.items[i].is_tmpfs);
	tmpfs_devices_release(&devices);

	r = proc_task_parse_syscall(text.text, &addr);
	CHECK(r == 0 || ((r == -ENODATA || r == -EBADMSG) && addr == 77));
	CHECK(r < 0 || strstr(text.text, " 0x"));
	strbuf_release(&text);
	return 0;
}
