/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/vmstat.h"

#include "base/key_lines.h"
#include "model/cgroup.h"

#define VMSTAT_BYTES_MAX ((size_t)256 << 10)

uint64_t proc_vmstat_oom_kills(const struct procfs *fs)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t count;

	if (procfs_read_path(fs, "vmstat", VMSTAT_BYTES_MAX, &text) < 0 ||
	    !key_lines_find_u64(strbuf_text(&text), "oom_kill ", &count))
		return COUNT_UNKNOWN;
	return count;
}
