/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/status.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/key_lines.h"
#include "base/num.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"

int proc_status_read(int process_fd, struct strbuf *out)
{
	return proc_dir_read(process_fd, PROC_STATUS, KEY_LINES_BYTES_MAX, out);
}

/*
 * Parse "Uid:\t1000\t1000\t1000\t1000", whose numbers are the real, effective, saved and
 * file system user ids.
 */
bool proc_status_find_uid(const char *text, uint32_t *ret)
{
	const char *ids = key_lines_find(text, "Uid:");
	unsigned int uid;

	if (!ids || sscanf(ids, "%*u %u", &uid) != 1)
		return false;
	*ret = uid;
	return true;
}

/*
 * Parse the real, effective, saved and file system id in the line that begins with `key`.
 * Return false unless all four are equal.
 */
static bool find_same_ids(const char *text, const char *key, uint32_t *ret)
{
	const char *line = key_lines_find(text, key);
	unsigned int ids[4];

	if (!line ||
	    sscanf(line, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4 ||
	    ids[1] != ids[0] || ids[2] != ids[0] || ids[3] != ids[0])
		return false;
	*ret = ids[0];
	return true;
}

void proc_status_find_reader(const char *text, struct foreign_reader *ret)
{
	const char *at = key_lines_find(text, "Groups:");
	size_t capacity = 0;

	*ret = (struct foreign_reader)FOREIGN_READER_INIT;
	ret->has_ids = find_same_ids(text, "Uid:", &ret->uid) && ret->uid != 0 &&
		       find_same_ids(text, "Gid:", &ret->gid);
	while (at && ret->has_ids) {
		at += strspn(at, " \t");
		if (*at < '0' || *at > '9')
			break;
		ret->groups = xgrow(ret->groups, &capacity, ret->group_count + 1,
				    sizeof(*ret->groups));
		ret->groups[ret->group_count++] = (uint32_t)strtoul(at, NULL, 10);
		at += strspn(at, "0123456789");
	}
}

/*
 * Return the last number of a line such as "NSpid:\t1234\t12", which is the pid in the
 * process's own pid namespace.
 */
uint32_t proc_status_find_own_number(const char *text)
{
	const char *line = key_lines_find(text, "NSpid:");
	const char *end = line ? line + strcspn(line, "\n") : NULL;

	while (end && end > line && end[-1] != '\t')
		end--;
	return end ? (uint32_t)strtoul(end, NULL, 10) : 0;
}

uint32_t proc_status_read_own_number(int process_fd, int tid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = tid == 0 ? proc_status_read(process_fd, &text)
			 : proc_dir_read_thread(process_fd, tid, PROC_STATUS,
						KEY_LINES_BYTES_MAX, &text);

	return r < 0 ? 0 : proc_status_find_own_number(strbuf_text(&text));
}

int proc_status_find_thread(int process_fd, uint32_t own_number)
{
	_cleanup_closedir_ DIR *threads = proc_dir_list_threads(process_fd);
	struct dirent *entry;
	int tid;

	while (threads && (entry = readdir(threads)))
		if (num_parse_pid(entry->d_name, &tid) == 0 &&
		    proc_status_read_own_number(process_fd, tid) == own_number)
			return tid;
	return 0;
}

/* Parse the lines "State:\tZ (zombie)" and "TracerPid:\t0". */
int proc_status_read_state(int task_fd, int tid, char *ret_state, int *ret_tracer)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *state;
	uint64_t tracer;
	int r = proc_thread_read(task_fd, tid, PROC_STATUS, KEY_LINES_BYTES_MAX, &text);

	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	state = key_lines_find(strbuf_text(&text), "State:");
	if (!state || !key_lines_find_u64(strbuf_text(&text), "TracerPid:", &tracer) ||
	    tracer > INT_MAX)
		return -EBADMSG;
	*ret_state = *state;
	*ret_tracer = (int)tracer;
	return 0;
}
