/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/smaps/parse.h"

/*
 * Size of a read(). For each read, the kernel fills one page with records. It discards a
 * record that does not fit into the page, and produces it again, with another page table
 * walk, for the next read. With reads of 4 KiB or more, the kernel discards one record
 * per read, which costs 8 to 19 %. With this size, it discards no record that has at most
 * 832 bytes, which is 670 bytes plus the name.
 */
#define READ_SIZE 3264

/*
 * Number of reads whose text is parsed together. A read evicts memstate's code from the
 * CPU caches, so parsing after every read would cost 1 to 2 % more.
 */
#define READS_AT_ONCE 16

/*
 * Size of a read() for large mappings. It is less than the size of a record, so the
 * kernel walks only one mapping per read.
 */
#define READ_SIZE_SMALL 700

/*
 * A paced reader pauses for PACE_PAUSE_NS after each PACE_BUDGET_NS in the kernel. In the
 * pauses, threads of the target that are waiting to change its memory map can take the
 * lock.
 */
#define PACE_BUDGET_NS (500 * NS_PER_US)
#define PACE_PAUSE_NS (50 * NS_PER_US)

/*
 * Upper bound on the size of a record: a path of at most PATH_MAX bytes, each of which
 * takes at most 4 bytes if it is escaped, and about 800 bytes of fields.
 */
#define RECORD_SIZE_MAX (64 * 1024)

void smaps_reader_init(struct smaps_reader *reader)
{
	memset(reader, 0, sizeof(*reader));
	reader->buffer = xgrow(NULL, &reader->capacity, READS_AT_ONCE * READ_SIZE, 1);
}

void smaps_reader_release(struct smaps_reader *reader)
{
	free(reader->buffer);
	strbuf_release(&reader->names[0]);
	strbuf_release(&reader->names[1]);
	memset(reader, 0, sizeof(*reader));
}

static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * The pacing of reads: the size of the next read, and the time since the last pause. The
 * reader reads the clock once per read(), so the time for parsing, about 5 %, counts as
 * reading.
 */
struct pace {
	bool is_paced;
	size_t size;
	uint64_t last_ns;
	uint64_t since_pause_ns;
	uint64_t total_ns; /* time spent reading, without the pauses */
};

static void pace_begin(struct pace *pace, bool is_paced)
{
	*pace = (struct pace){ .is_paced = is_paced,
			       .size = READ_SIZE,
			       .last_ns = clock_now_ns() };
}

static void pace_after_read(struct pace *pace)
{
	const struct timespec pause = { .tv_nsec = PACE_PAUSE_NS };
	uint64_t now = clock_now_ns();
	uint64_t read_ns = now - pace->last_ns;

	pace->last_ns = now;
	pace->total_ns += read_ns;
	pace->since_pause_ns += read_ns;
	if (!pace->is_paced || pace->since_pause_ns < PACE_BUDGET_NS)
		return;
	pace->size = read_ns >= PACE_BUDGET_NS ? READ_SIZE_SMALL : READ_SIZE;
	nanosleep(&pause, NULL);
	pace->since_pause_ns = 0;
	pace->last_ns = clock_now_ns();
}

/*
 * Check whether the memory map still exists by reading the file again from its start,
 * because only an existing map returns data. read() reports end of file not only at the
 * real end, but also if an exec or exit has replaced the memory map.
 */
bool proc_smaps_map_exists(int fd)
{
	char byte;

	return pread(fd, &byte, 1, 0) == 1;
}

static int read_mappings(struct smaps_reader *reader, int fd, struct smaps_parse *parse,
			 uint64_t *ret_read_ns)
{
	struct pace pace;
	size_t length = 0;

	pace_begin(&pace, reader->is_paced);
	for (;;) {
		size_t used;
		ssize_t n;
		int r;

		reader->buffer =
			xgrow(reader->buffer, &reader->capacity, length + pace.size, 1);
		n = read_some(fd, reader->buffer + length, pace.size);
		if (n < 0)
			return procfs_normalize_errno(errno);
		pace_after_read(&pace);
		*ret_read_ns = pace.total_ns;
		length += (size_t)n;
		if (n > 0 && length + pace.size <= reader->capacity)
			continue;
		r = smaps_parse_part(parse, reader->buffer, length, n == 0, &used);
		if (r < 0)
			return r;
		if (n == 0)
			return 0;
		length -= used;
		if (length > RECORD_SIZE_MAX)
			return -EBADMSG;
		memmove(reader->buffer, reader->buffer + used, length);
	}
}

int proc_smaps_read_text(int fd, bool is_paced, size_t limit, struct strbuf *out)
{
	size_t before = out->length;
	char block[READ_SIZE];
	struct pace pace;
	ssize_t n;

	pace_begin(&pace, is_paced);
	do {
		int r = 0;

		n = read_some(fd, block, pace.size);
		if (n < 0)
			r = procfs_normalize_errno(errno);
		else if (out->length - before + (size_t)n > limit)
			r = -EFBIG;
		if (r < 0) {
			strbuf_truncate(out, before);
			return r;
		}
		strbuf_add(out, block, (size_t)n);
		pace_after_read(&pace);
	} while (n > 0);
	return 0;
}

int proc_smaps_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		    mapping_fn fn, void *context, uint64_t *ret_read_ns)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "smaps");
	struct smaps_parse parse;
	int r;

	*ret_read_ns = 0;
	if (fd < 0)
		return fd;
	smaps_parse_begin(&parse, &reader->smaps_layout, reader->names, fn, context);
	r = read_mappings(reader, fd, &parse, ret_read_ns);
	if (r == 0 && parse.mapping_count > 0 && !proc_smaps_map_exists(fd))
		return -ESTALE;
	return r;
}

static int keep_counters(void *context, struct mapping *m)
{
	struct counters *ret = context;

	*ret = m->counters;
	return 0;
}

int proc_rollup_read(struct smaps_reader *reader, const struct procfs *fs, int pid,
		     struct counters *ret, uint64_t *ret_read_ns)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "smaps_rollup");
	struct counters counters;
	struct smaps_parse parse;
	uint64_t before_ns;
	size_t used;
	ssize_t n;
	int r;

	*ret_read_ns = 0;
	if (fd < 0)
		return fd;
	before_ns = clock_now_ns();
	n = read_some(fd, reader->buffer, reader->capacity);
	if (n < 0)
		return procfs_normalize_errno(errno);
	*ret_read_ns = clock_now_ns() - before_ns;
	if (n == 0) /* the process has called exec or exited since the file was opened */
		return -ESRCH;
	smaps_parse_begin(&parse, &reader->rollup_layout, reader->names, keep_counters,
			  &counters);
	r = smaps_parse_part(&parse, reader->buffer, (size_t)n, true, &used);
	if (r < 0)
		return r;
	if (parse.mapping_count != 1)
		return -EBADMSG;
	*ret = counters;
	return 0;
}

int smaps_parse(struct smaps_reader *reader, const char *text, size_t length,
		mapping_fn fn, void *context, size_t *reterr_line)
{
	struct smaps_parse parse;
	size_t used;
	int r;

	smaps_parse_begin(&parse, &reader->smaps_layout, reader->names, fn, context);
	r = smaps_parse_part(&parse, text, length, true, &used);
	if (r == -EBADMSG)
		*reterr_line = parse.line_count + 1;
	return r;
}
