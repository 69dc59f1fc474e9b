/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/self.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "proc/process/own.h"
#include "proc/process/stat.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) < 0)
		return BYTES_UNKNOWN;
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static uint64_t read_cpu_ns(pid_t web_pid)
{
	uint64_t cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	clockid_t clock;

	if (web_pid > 0 && clock_getcpuclockid(web_pid, &clock) == 0)
		cpu_ns = bytes_add(cpu_ns, bytes_or_0(read_clock(clock)));
	return cpu_ns;
}

static uint64_t read_rss(const struct procfs *fs, pid_t pid)
{
	uint64_t bytes;

	return proc_stat_read_rss(fs, pid, &bytes) == 0 ? bytes : BYTES_UNKNOWN;
}

void self_read(struct look_self *self, pid_t web_pid)
{
	struct rlimit limit;
	struct procfs fs;

	self->cpu_ns = read_cpu_ns(web_pid);
	self->open_fds = own_count_descriptors();
	self->max_fds = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur
							      : BYTES_UNKNOWN;
	if (procfs_open(&fs, "/proc") < 0)
		return;
	self->resident_bytes = read_rss(&fs, getpid());
	if (web_pid > 0)
		self->resident_bytes = bytes_add(self->resident_bytes,
						 bytes_or_0(read_rss(&fs, web_pid)));
	procfs_release(&fs);
}
