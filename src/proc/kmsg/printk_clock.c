/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/printk_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define TRIES 5
#define COMM_SIZE 16 /* size of a thread's name: TASK_COMM_LEN in the kernel */

/*
 * Return the current time of the kernel's local_clock() in ns, or 0 if there is no
 * record. The kernel writes a PERF_RECORD_COMM with this time to the ring buffer whenever
 * a thread sets its name.
 */
static uint64_t read_local_clock(const struct perf_event_mmap_page *page,
				 const char *comm)
{
	const char *records = (const char *)page + page->data_offset;
	uint64_t head, time_ns;

	if (prctl(PR_SET_NAME, comm) < 0)
		return 0;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	if (head < sizeof(time_ns) || page->data_size == 0)
		return 0;
	/* with sample_id_all, the time is the last field of the record */
	memcpy(&time_ns, records + (head - sizeof(time_ns)) % page->data_size,
	       sizeof(time_ns));
	return time_ns;
}

/*
 * Measure local_clock() - CLOCK_MONOTONIC several times. Use the measurement with the
 * shortest time between its two readings of CLOCK_MONOTONIC.
 */
static int measure(const struct perf_event_mmap_page *page, int64_t *ret_ns)
{
	uint64_t shortest_ns = UINT64_MAX;
	char comm[COMM_SIZE] = "";

	if (prctl(PR_GET_NAME, comm) < 0)
		return -errno;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before_ns = clock_now_ns();
		uint64_t local_ns = read_local_clock(page, comm);
		uint64_t took_ns = clock_now_ns() - before_ns;

		if (local_ns == 0)
			return -EOPNOTSUPP;
		if (took_ns < shortest_ns) {
			shortest_ns = took_ns;
			*ret_ns = (int64_t)(local_ns - before_ns - took_ns / 2);
		}
	}
	return 0;
}

int printk_clock_measure(int64_t *ret_ns)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.comm = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	_cleanup_close_ int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1,
					      PERF_FLAG_FD_CLOEXEC);
	size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	void *page;
	int r;

	if (fd < 0)
		return -errno;
	/* map the control page and one page of records */
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	r = measure(page, ret_ns);
	munmap(page, size);
	return r;
}

int64_t printk_clock_ahead_ns(void)
{
	int64_t ahead_ns = 0;

	return printk_clock_measure(&ahead_ns) < 0 ? 0 : ahead_ns;
}

uint64_t printk_clock_to_monotonic_ns(uint64_t stamp_us, int64_t ahead_ns)
{
	uint64_t stamp_ns = stamp_us * 1000;

	if (ahead_ns > 0 && (uint64_t)ahead_ns > stamp_ns)
		return 0;
	return stamp_ns - (uint64_t)ahead_ns;
}
