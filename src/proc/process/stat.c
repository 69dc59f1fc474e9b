/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/key_lines.h"
#include "base/text.h"
#include "base/units.h"
#include "proc/process/status.h"

/*
 * Indexes of the fields after the state letter. Index 0 is ppid, which is field 4
 * in proc_pid_stat(5).
 */
enum {
	FIELD_PPID = 4 - 4,
	FIELD_FLAGS = 9 - 4,
	FIELD_MINFLT = 10 - 4,
	FIELD_MAJFLT = 12 - 4,
	FIELD_NUM_THREADS = 20 - 4,
	FIELD_STARTTIME = 22 - 4,
	FIELD_VSIZE = 23 - 4,
	FIELD_RSS = 24 - 4,
	FIELD_COUNT_
};

/*
 * Parse a space, an optional sign, and digits. A negative number is stored as 0, because
 * the rss of an exiting process can be negative.
 */
static bool parse_field(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	bool is_negative = false;
	uint64_t value = 0;
	const char *digits;

	if (p == end || *p++ != ' ')
		return false;
	if (p < end && *p == '-') {
		is_negative = true;
		p++;
	}
	for (digits = p; p < end && *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*at = p;
	*ret = is_negative ? 0 : value;
	return p > digits;
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/*
 * The format of /proc/PID/stat is "1234 (a) b) S 1 1234 1234 0 -1 4194560 …". The name
 * may contain spaces and ')', so it ends at the last ')'.
 */
int proc_stat_parse(const char *text, size_t length, struct process *ret)
{
	const char *end = text + length;
	const char *open = memchr(text, '(', length);
	const char *close = memrchr(text, ')', length);
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t fields[FIELD_COUNT_];
	struct process process = { .uid = UINT32_MAX };
	char comm[PROCESS_COMM_SIZE * 4];
	const char *at;
	uint64_t pid = 0;
	size_t size;

	if (!open || !close || close < open || open == text || end - close < 4 ||
	    close[1] != ' ')
		return -EBADMSG;
	for (at = text; at < open - 1; at++) {
		if (*at < '0' || *at > '9' || pid > INT32_MAX / 10 - 1)
			return -EBADMSG;
		pid = pid * 10 + (uint64_t)(*at - '0');
	}
	size = (size_t)(close - open - 1);
	if (*at != ' ' || pid == 0 || size >= sizeof(comm))
		return -EBADMSG;
	at = close + 3;
	for (size_t i = 0; i < FIELD_COUNT_; i++)
		if (!parse_field(&at, end, &fields[i]))
			return -EBADMSG;
	if (fields[FIELD_RSS] > UINT64_MAX / page_bytes ||
	    fields[FIELD_PPID] > INT32_MAX || fields[FIELD_NUM_THREADS] > UINT32_MAX ||
	    !is_letter(close[2]))
		return -EBADMSG;

	memcpy(comm, open + 1, size);
	comm[size] = '\0';
	text_copy(process.comm, sizeof(process.comm), comm);
	process.pid = (int)pid;
	process.state = close[2];
	process.ppid = (int)fields[FIELD_PPID];
	process.is_kernel_thread = fields[FIELD_FLAGS] & PROCESS_FLAG_KERNEL_THREAD;
	process.is_fork = fields[FIELD_FLAGS] & PROCESS_FLAG_FORK;
	process.minor_fault_count = fields[FIELD_MINFLT];
	process.major_fault_count = fields[FIELD_MAJFLT];
	process.thread_count = (uint32_t)fields[FIELD_NUM_THREADS];
	process.start_ticks = fields[FIELD_STARTTIME];
	process.stat_size_bytes = fields[FIELD_VSIZE];
	process.stat_rss_bytes = fields[FIELD_RSS] * page_bytes;
	*ret = process;
	return 0;
}

/*
 * In a live /proc, use the owner of the process's directory, who is the effective user
 * even if the process is not dumpable. Files in the directory may have another owner
 * (task_dump_owner() in fs/proc/base.c). In a capture, use the user id in status.
 */
uint32_t proc_stat_read_uid(const struct procfs *fs, int pid)
{
	_cleanup_strbuf_ struct strbuf status = STRBUF_INIT;
	char path[PROCFS_PATH_SIZE];
	struct stat st;
	uint32_t uid;

	if (fs->is_live) {
		procfs_format_path(path, pid, "");
		return fstatat(fs->fd, path, &st, 0) == 0 ? st.st_uid : UINT32_MAX;
	}
	if (procfs_read_file(fs, pid, "status", KEY_LINES_BYTES_MAX, &status) < 0)
		return UINT32_MAX;
	return proc_status_find_uid(strbuf_text(&status), &uid) ? uid : UINT32_MAX;
}

int proc_stat_read(const struct procfs *fs, int pid, struct process *ret)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "stat");
	struct process process;
	char text[1024];
	ssize_t n;
	int r;

	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return procfs_normalize_errno(errno);
	r = proc_stat_parse(text, (size_t)n, &process);
	if (r < 0)
		return r;
	if (process.pid != pid)
		return -EBADMSG;
	process.uid = proc_stat_read_uid(fs, pid);
	*ret = process;
	return 0;
}

int proc_stat_read_rss(const struct procfs *fs, int pid, uint64_t *ret_bytes)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "statm");
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size, resident;
	char text[128];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return procfs_normalize_errno(errno);
	text[n] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &size, &resident) != 2 ||
	    resident > UINT64_MAX / page_bytes)
		return -EBADMSG;
	*ret_bytes = resident * page_bytes;
	return 0;
}

uint64_t proc_stat_age_ns(const struct process *p)
{
	long hertz = sysconf(_SC_CLK_TCK);
	uint64_t tick_ns = NS_PER_S / (uint64_t)(hertz > 0 ? hertz : 100), now_ns;
	struct timespec now;

	if (clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return 0;
	now_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	return now_ns > p->start_ticks * tick_ns ? now_ns - p->start_ticks * tick_ns : 0;
}
