/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/oom_marks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/key_lines.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#define CPUS_MAX 4096
#define FORMAT_MAX 65536
#define RECORD_MAX 512

static const char *const folders[] = {
	"/sys/kernel/tracing/events/oom/mark_victim",
	"/sys/kernel/debug/tracing/events/oom/mark_victim",
};

struct ring {
	int fd;
	/*
	 * memory mapping of a struct perf_event_mmap_page, followed by one page of
	 * records
	 */
	void *map;
};

struct oom_marks {
	struct ring *rings;
	size_t count, capacity;
	size_t page_bytes;
	size_t pid_offset; /* offset of the victim's pid in the raw data of a record */
};

/*
 * The start of a record in the ring buffer of perf_event_open(2). The members are the
 * values that sample_type requests, in the kernel's order.
 */
struct record_head {
	struct perf_event_header header;
	uint64_t time_ns;
	uint32_t raw_bytes;
	/* the tracepoint's raw data follows here */
} __attribute__((packed));

static int read_text(const char *folder, const char *file, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	int r;

	strbuf_addf(&path, "%s/%s", folder, file);
	r = io_read_file_at(-1, path.text, FORMAT_MAX, out);
	return r == -ENOENT || r == -ENOTDIR ? -EOPNOTSUPP : r;
}

/*
 * Find the offset of the pid in the format of the tracepoint: " field:int pid; offset:8;
 * size:4; signed:1;".
 */
static int read_offset(const char *folder, size_t *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t offset;
	unsigned int size;
	const char *at;
	int r = read_text(folder, "format", &text);

	if (r < 0)
		return r;
	at = key_lines_find(strbuf_text(&text), "\tfield:int pid;");
	if (!at || sscanf(at, "offset:%zu; size:%u;", &offset, &size) != 2 ||
	    size != sizeof(int) || offset > RECORD_MAX - sizeof(int))
		return -EOPNOTSUPP;
	*ret = offset;
	return 0;
}

static int read_id(const char *folder, uint64_t *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = read_text(folder, "id", &text);

	if (r < 0)
		return r;
	while (text.length > 0 && text.text[text.length - 1] == '\n')
		strbuf_truncate(&text, text.length - 1);
	return num_parse_u64(strbuf_text(&text), ret) < 0 ? -EOPNOTSUPP : 0;
}

static int find_tracepoint(uint64_t *ret_id, size_t *ret_offset)
{
	int r = -EOPNOTSUPP;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int now = read_id(folders[i], ret_id);

		if (now == 0)
			return read_offset(folders[i], ret_offset);
		/*
		 * if one tracefs directory is unreadable and the other does not exist,
		 * return the error of the unreadable directory
		 */
		if (r == -EOPNOTSUPP)
			r = now;
	}
	return r;
}

/*
 * Open and map the ring buffer of a CPU. Return 0 or -errno. A CPU that does not exist is
 * not an error.
 */
static int open_ring(struct oom_marks *marks, uint64_t id, int cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attributes),
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.wakeup_events = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct ring ring = { .fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu,
						-1, PERF_FLAG_FD_CLOEXEC) };

	if (ring.fd < 0)
		return errno == ENODEV ? 0 : -errno;
	ring.map = mmap(NULL, 2 * marks->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			ring.fd, 0);
	if (ring.map == MAP_FAILED) {
		int r = -errno;

		close(ring.fd);
		return r;
	}
	marks->rings =
		xgrow(marks->rings, &marks->capacity, marks->count + 1, sizeof(ring));
	marks->rings[marks->count++] = ring;
	return 0;
}

int oom_marks_open(struct oom_marks **ret)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct oom_marks *marks;
	size_t offset = 0;
	uint64_t id = 0;
	int r = find_tracepoint(&id, &offset);

	if (r < 0)
		return r;
	marks = xcalloc(1, sizeof(*marks));
	marks->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	marks->pid_offset = offset;
	for (int cpu = 0; r == 0 && cpu < cpus && cpu < CPUS_MAX; cpu++)
		r = open_ring(marks, id, cpu);
	if (r == 0 && marks->count == 0)
		r = -EOPNOTSUPP;
	if (r < 0) {
		oom_marks_close(marks);
		return r;
	}
	*ret = marks;
	return 0;
}

void oom_marks_close(struct oom_marks *marks)
{
	if (!marks)
		return;
	for (size_t i = 0; i < marks->count; i++) {
		munmap(marks->rings[i].map, 2 * marks->page_bytes);
		close(marks->rings[i].fd);
	}
	free(marks->rings);
	free(marks);
}

size_t oom_marks_count(const struct oom_marks *marks)
{
	return marks ? marks->count : 0;
}

int oom_marks_fd(const struct oom_marks *marks, size_t index)
{
	return marks->rings[index].fd;
}

/*
 * Copy bytes from the ring buffer. The bytes may wrap around from the end of the buffer
 * to its start.
 */
static void copy_from(const struct oom_marks *marks, const struct ring *ring,
		      uint64_t from, void *to, size_t length)
{
	const char *records = (const char *)ring->map + marks->page_bytes;

	for (size_t i = 0; i < length; i++)
		((char *)to)[i] = records[(from + i) % marks->page_bytes];
}

/*
 * Read the next OOM mark from one ring buffer. Return 1, or 0 if
 * there are no more marks.
 */
static int read_ring_mark(struct oom_marks *marks, const struct ring *ring,
			  struct oom_mark *ret)
{
	struct perf_event_mmap_page *page = ring->map;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	int found = 0;

	while (tail < head && !found) {
		struct record_head record = { 0 };

		copy_from(marks, ring, tail, &record.header, sizeof(record.header));
		if (record.header.size < sizeof(record.header)) {
			tail = head;
			break;
		}
		if (record.header.type == PERF_RECORD_SAMPLE &&
		    record.header.size >=
			    sizeof(record) + marks->pid_offset + sizeof(ret->pid)) {
			copy_from(marks, ring, tail, &record, sizeof(record));
			copy_from(marks, ring, tail + sizeof(record) + marks->pid_offset,
				  &ret->pid, sizeof(ret->pid));
			ret->marked_ns = record.time_ns;
			found = 1;
		}
		tail += record.header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return found;
}

int oom_marks_read(struct oom_marks *marks, struct oom_mark *ret)
{
	for (size_t i = 0; i < oom_marks_count(marks); i++)
		if (read_ring_mark(marks, &marks->rings[i], ret))
			return 1;
	return 0;
}
