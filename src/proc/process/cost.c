/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/cost.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/key_lines.h"
#include "base/text.h"
#include "base/units.h"

#define STAT_MAX_BYTES 65536

/*
 * The format of /proc/PID/stat is "1234 (a) b) S 1 1234 1234 0 -1 4194560 MINFLT CMINFLT
 * MAJFLT CMAJFLT UTIME STIME CUTIME CSTIME …".
 */
int proc_cost_parse(const char *text, struct process_cost *ret)
{
	const char *close = strrchr(text, ')');
	uint64_t minor, child_minor, major, child_major, user, system, child_user,
		child_system;
	long hertz = sysconf(_SC_CLK_TCK);
	uint64_t tick_ns = NS_PER_S / (uint64_t)(hertz > 0 ? hertz : 100);

	if (!close ||
	    sscanf(close,
		   ") %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &minor, &child_minor, &major, &child_major, &user, &system,
		   &child_user, &child_system) != 8)
		return -EBADMSG;
	*ret = (struct process_cost){
		.user_ns = (user + child_user) * tick_ns,
		.system_ns = (system + child_system) * tick_ns,
		.minor_fault_count = minor + child_minor,
		.major_fault_count = major + child_major,
	};
	return 0;
}

int proc_cost_read(const struct procfs *fs, int pid, struct process_cost *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = procfs_read_file(fs, pid, "stat", STAT_MAX_BYTES, &text);

	return r < 0 ? r : proc_cost_parse(strbuf_text(&text), ret);
}

/* The format of the line in status is "VmHWM:\t 1234 kB". */
int proc_cost_read_peak_rss(const struct procfs *fs, int pid, uint64_t *ret_bytes)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = procfs_read_file(fs, pid, "status", KEY_LINES_BYTES_MAX, &text);
	uint64_t kib;

	if (r < 0)
		return r;
	if (!key_lines_find_u64(strbuf_text(&text), "VmHWM:", &kib))
		return -EBADMSG;
	return units_bytes_from_kib(kib, ret_bytes);
}

int proc_cost_read_program(const struct procfs *fs, int pid, char *ret_name, size_t size)
{
	char file[PATH_MAX];
	const char *name;
	int r;

	r = procfs_read_link(fs, pid, "exe", file, sizeof(file));
	if (r < 0)
		return r;
	name = strrchr(file, '/');
	text_copy(ret_name, size, name ? name + 1 : file);
	return 0;
}
