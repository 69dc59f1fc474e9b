/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file - the names of the files in /proc that describe the whole system, see proc(5). */
#ifndef MS_PROC_SYSTEM_FILE_H
#define MS_PROC_SYSTEM_FILE_H

#include "base/strbuf.h"
#include "proc/system/procfs.h"

enum system_file {
	SYSTEM_MAX_MAP_COUNT, /* the limit on the number of mappings of a process */
	SYSTEM_MEMINFO,
	SYSTEM_OSRELEASE, /* the kernel's version, such as "6.8.0" */
	/* the setting with which the Yama security module restricts ptrace(2) */
	SYSTEM_PTRACE_SCOPE,
	SYSTEM_STAT,
	SYSTEM_SWAPS,
	SYSTEM_UPTIME,
	SYSTEM_VERSION,
	SYSTEM_FILE_COUNT_,
};

/* Return the path of the file relative to the root of a procfs. */
const char *system_file_path(enum system_file file);

/* Append the content of a file, at most `limit` bytes. Return 0, -EFBIG or -errno. */
int system_file_read(const struct procfs *fs, enum system_file file, size_t limit,
		     struct strbuf *out);

#endif
