/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/cgroup/parse.h"
#include "proc/cgroup/pids.h"
#include "proc/cgroup/reader.h"

#define FILE_BYTES_MAX (4 << 20)
/*
 * The value that cgroup v1 prints for "no limit": the largest number of whole pages below
 * 2^63, in bytes. A page is at most 64 KiB, so this value and all larger ones mean "no
 * limit".
 */
#define V1_NO_LIMIT (UINT64_C(0x7fffffffffff0000))

/* The file names of cgroup v1 and v2; NULL if a version has no such file. */
static const char *const file_names[][FILE_COUNT_] = {
	[CGROUP_V1] = {
		[FILE_USAGE] = "memory.usage_in_bytes",
		[FILE_LIMIT] = "memory.limit_in_bytes",
		[FILE_PEAK] = "memory.max_usage_in_bytes",
		[FILE_SWAP] = "memory.memsw.usage_in_bytes",
		[FILE_SWAP_LIMIT] = "memory.memsw.limit_in_bytes",
		[FILE_FAILCNT] = "memory.failcnt",
		[FILE_EVENTS] = "memory.oom_control",
		[FILE_STAT] = "memory.stat",
		[FILE_KERNEL] = "memory.kmem.usage_in_bytes",
		[FILE_SOCK] = "memory.kmem.tcp.usage_in_bytes",
		[FILE_SOCK_LIMIT] = "memory.kmem.tcp.limit_in_bytes",
		[FILE_SLABS] = "memory.kmem.slabinfo",
	},
	[CGROUP_V2] = {
		[FILE_USAGE] = "memory.current",
		[FILE_LIMIT] = "memory.max",
		[FILE_HIGH] = "memory.high",
		[FILE_PEAK] = "memory.peak",
		[FILE_SWAP] = "memory.swap.current",
		[FILE_SWAP_LIMIT] = "memory.swap.max",
		[FILE_EVENTS] = "memory.events.local",
		[FILE_EVENTS_OF_ALL] = "memory.events",
		[FILE_SWAP_EVENTS] = "memory.swap.events",
		[FILE_OOM_GROUP] = "memory.oom.group",
		[FILE_STAT] = "memory.stat",
		[FILE_PRESSURE] = "memory.pressure",
	},
};

/*
 * Read the entire current contents of an open file of cgroupfs, from the start. The size
 * of such a file is unknown until it has been read.
 */
static int read_again(int fd, struct strbuf *out)
{
	char bytes[4096];
	off_t at = 0;

	strbuf_clear(out);
	for (;;) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		strbuf_add(out, bytes, (size_t)n);
		at += n;
		/*
		 * the kernel fills the buffer unless the file ends first, so a short read
		 * means the end of the file
		 */
		if ((size_t)n < sizeof(bytes) || at > FILE_BYTES_MAX)
			return 0;
	}
}

/*
 * Read a file of a cgroup into reader->text. Return false if the file does not exist or
 * cannot be read.
 */
static bool read_file(struct cgroup_reader *reader, struct level_reader *level,
		      enum group_file file)
{
	const char *name = file_names[reader->version][file];

	if (name && level->fds[file] == FD_NOT_YET)
		level->fds[file] = openat(level->dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (!name || level->fds[file] < 0) {
		level->fds[file] = FD_NONE;
		return false;
	}
	return read_again(level->fds[file], &reader->text) == 0;
}

/* Return the value of a file that contains one number or "max". */
static uint64_t read_amount(struct cgroup_reader *reader, struct level_reader *level,
			    enum group_file file)
{
	uint64_t value;
	char *text;

	if (!read_file(reader, level, file) || reader->text.length == 0)
		return BYTES_UNKNOWN;
	text = reader->text.text;
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, "max") == 0)
		return CGROUP_NO_LIMIT;
	if (num_parse_u64(text, &value) < 0)
		return BYTES_UNKNOWN;
	return value;
}

static uint64_t read_limit(struct cgroup_reader *reader, struct level_reader *level,
			   enum group_file file)
{
	uint64_t value = read_amount(reader, level, file);

	if (reader->version == CGROUP_V1 && value != BYTES_UNKNOWN &&
	    value >= V1_NO_LIMIT)
		return CGROUP_NO_LIMIT;
	/* the root cgroup has no limit, and therefore no file for a limit */
	return level->is_charged ? value : CGROUP_NO_LIMIT;
}

static uint64_t find_count(const struct strbuf *text, const char *key)
{
	uint64_t value;

	return cgroup_find_value(strbuf_text(text), key, &value) ? value : COUNT_UNKNOWN;
}

static void read_events_v1(struct cgroup_reader *reader, struct level_reader *from,
			   struct cgroup_level *to)
{
	to->max_count = read_amount(reader, from, FILE_FAILCNT);
	if (!read_file(reader, from, FILE_EVENTS))
		return;
	to->oom_kill_count = find_count(&reader->text, "oom_kill");
	to->is_kill_disabled = find_count(&reader->text, "oom_kill_disable") == 1;
}

static void read_events_v2(struct cgroup_reader *reader, struct level_reader *from,
			   struct cgroup_level *to)
{
	if (read_file(reader, from, FILE_EVENTS) ||
	    read_file(reader, from, FILE_EVENTS_OF_ALL)) {
		to->high_count = find_count(&reader->text, "high");
		to->max_count = find_count(&reader->text, "max");
		to->oom_count = find_count(&reader->text, "oom");
		to->oom_kill_count = find_count(&reader->text, "oom_kill");
	}
	if (read_file(reader, from, FILE_SWAP_EVENTS))
		to->swap_fail_count = find_count(&reader->text, "fail");
	to->is_oom_group = read_amount(reader, from, FILE_OOM_GROUP) == 1;
}

/*
 * Read the swap usage and limit. cgroup v1 reports only the usage and the limit of memory
 * plus swap, so subtract the usage and the limit of memory.
 */
static void read_swap(struct cgroup_reader *reader, struct level_reader *from,
		      struct cgroup_level *to)
{
	to->swap_bytes = read_amount(reader, from, FILE_SWAP);
	to->swap_limit_bytes = read_limit(reader, from, FILE_SWAP_LIMIT);
	if (reader->version == CGROUP_V2)
		return;
	to->swap_bytes = bytes_sub(to->swap_bytes, to->usage_bytes);
	if (to->swap_limit_bytes != CGROUP_NO_LIMIT && to->limit_bytes != CGROUP_NO_LIMIT)
		to->swap_limit_bytes = bytes_sub(to->swap_limit_bytes, to->limit_bytes);
}

static void read_level(struct cgroup_reader *reader, struct level_reader *from,
		       struct cgroup_level *to)
{
	char *path = to->path;

	memset(to, 0xff, sizeof(*to));
	to->path = path;
	to->is_oom_group = to->is_kill_disabled = false;
	to->usage_bytes = read_amount(reader, from, FILE_USAGE);
	to->limit_bytes = read_limit(reader, from, FILE_LIMIT);
	to->high_bytes = read_amount(reader, from, FILE_HIGH);
	to->peak_bytes = read_amount(reader, from, FILE_PEAK);
	read_swap(reader, from, to);
	if (reader->version == CGROUP_V1)
		read_events_v1(reader, from, to);
	else
		read_events_v2(reader, from, to);
}

static void read_stat(struct cgroup_reader *reader, struct level_reader *level,
		      struct cgroup_stat *ret)
{
	memset(ret, 0xff, sizeof(*ret));
	if (!read_file(reader, level, FILE_STAT))
		return;
	cgroup_stat_parse(reader->version, strbuf_text(&reader->text), ret);
	if (reader->version == CGROUP_V1) {
		/* the root cgroup's usage does not include kernel memory */
		if (!level->is_real_root)
			ret->kernel_bytes = read_amount(reader, level, FILE_KERNEL);
		ret->sock_bytes = read_amount(reader, level, FILE_SOCK);
	} else {
		ret->swap_bytes = read_amount(reader, level, FILE_SWAP);
	}
}

/*
 * Return the lowest limit of all ancestors if memstate's cgroup namespace hides some of
 * them. Otherwise return CGROUP_NO_LIMIT. Only cgroup v1 reports the limits of hidden
 * ancestors.
 */
static uint64_t read_hidden_limit(struct cgroup_reader *reader)
{
	uint64_t limit;

	if (reader->version != CGROUP_V1 || !reader->is_cut ||
	    !read_file(reader, &reader->levels[0], FILE_STAT) ||
	    !cgroup_find_value(strbuf_text(&reader->text), "hierarchical_memory_limit",
			       &limit) ||
	    limit >= V1_NO_LIMIT)
		return CGROUP_NO_LIMIT;
	return limit;
}

static bool read_pressure(struct cgroup_reader *reader, struct cgroup_pressure *ret)
{
	if (!read_file(reader, &reader->levels[0], FILE_PRESSURE))
		return false;
	return cgroup_pressure_parse(strbuf_text(&reader->text), ret);
}

static void begin(struct cgroup_reader *reader, struct cgroup *cgroup)
{
	char *names[CGROUP_NAME_COUNT_];

	if (cgroup->level_count == reader->level_count)
		return;
	memcpy(names, cgroup->names, sizeof(names));
	memset(cgroup->names, 0, sizeof(names));
	cgroup_release(cgroup);
	memcpy(cgroup->names, names, sizeof(names));
	cgroup->level_count = reader->level_count;
	cgroup->levels = xcalloc(cgroup->level_count, sizeof(*cgroup->levels));
	for (size_t i = 0; i < cgroup->level_count; i++)
		cgroup->levels[i].path = xstrdup(reader->levels[i].path);
}

static void read_levels(struct cgroup_reader *reader, struct cgroup *cgroup)
{
	uint64_t tightest = CGROUP_NO_LIMIT, hidden = read_hidden_limit(reader);

	cgroup->version = reader->version;
	cgroup->is_cut = reader->is_cut;
	cgroup->tightest = SIZE_MAX;
	for (size_t i = 0; i < reader->level_count; i++) {
		read_level(reader, &reader->levels[i], &cgroup->levels[i]);
		if (cgroup->levels[i].limit_bytes < tightest) {
			tightest = cgroup->levels[i].limit_bytes;
			cgroup->tightest = i;
		}
	}
	cgroup->hidden_limit_bytes = hidden < tightest ? hidden : CGROUP_NO_LIMIT;
}

int cgroup_reader_read_pids(struct cgroup_reader *reader, struct cgroup *ret)
{
	if (!cgroup_reader_exists(reader))
		return -ESRCH;
	cgroup_pids_read(reader->own_fd, ret);
	return 0;
}

int cgroup_reader_read(struct cgroup_reader *reader, unsigned int parts,
		       struct cgroup *ret)
{
	size_t owner;

	if (!cgroup_reader_exists(reader))
		return -ESRCH;
	begin(reader, ret);
	ret->taken_ns = clock_now_ns();
	ret->unix_ms = clock_unix_ms();
	read_levels(reader, ret);
	owner = ret->tightest == SIZE_MAX ? 0 : ret->tightest;
	memset(&ret->stat, 0xff, sizeof(ret->stat));
	if (parts & CGROUP_STAT)
		read_stat(reader, &reader->levels[0], &ret->stat);
	ret->limit_stat = ret->stat;
	if ((parts & CGROUP_STAT) && owner != 0)
		read_stat(reader, &reader->levels[owner], &ret->limit_stat);
	ret->has_pressure = (parts & CGROUP_PRESSURE) &&
			    read_pressure(reader, &ret->pressure);
	ret->pid_count = ret->group_count = 0;
	if (parts & CGROUP_PIDS)
		cgroup_pids_read(reader->levels[owner].dir_fd, ret);
	/* if the cgroup was removed during the read, some figures are missing */
	return cgroup_reader_exists(reader) ? 0 : -ESRCH;
}

void cgroup_reader_read_kernel(struct cgroup_reader *reader, struct cgroup *cgroup)
{
	size_t owner = cgroup->tightest == SIZE_MAX ? 0 : cgroup->tightest;
	struct level_reader *level = &reader->levels[owner];
	struct cgroup_kernel *k = &cgroup->kernel;

	k->tcp_bytes = k->socket_slab_bytes = k->inode_slab_bytes = BYTES_UNKNOWN;
	if (reader->version != CGROUP_V1)
		return;
	/*
	 * the kernel starts to count socket buffers when their limit is set, so until
	 * then 0 means unknown
	 */
	k->tcp_bytes = read_amount(reader, level, FILE_SOCK);
	if (k->tcp_bytes == 0 &&
	    read_limit(reader, level, FILE_SOCK_LIMIT) == CGROUP_NO_LIMIT)
		k->tcp_bytes = BYTES_UNKNOWN;
	if (read_file(reader, level, FILE_SLABS))
		cgroup_slabs_parse(strbuf_text(&reader->text), k);
}
