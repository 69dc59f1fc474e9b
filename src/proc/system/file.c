/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/system/file.h"

static const char *const paths[SYSTEM_FILE_COUNT_] = {
	[SYSTEM_MAX_MAP_COUNT] = "sys/vm/max_map_count",
	[SYSTEM_MEMINFO] = "meminfo",
	[SYSTEM_OSRELEASE] = "sys/kernel/osrelease",
	[SYSTEM_PTRACE_SCOPE] = "sys/kernel/yama/ptrace_scope",
	[SYSTEM_STAT] = "stat",
	[SYSTEM_SWAPS] = "swaps",
	[SYSTEM_UPTIME] = "uptime",
	[SYSTEM_VERSION] = "version",
};

const char *system_file_path(enum system_file file)
{
	return paths[file];
}

int system_file_read(const struct procfs *fs, enum system_file file, size_t limit,
		     struct strbuf *out)
{
	return procfs_read_path(fs, paths[file], limit, out);
}
