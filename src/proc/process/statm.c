/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/statm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proc/process/file.h"

/*
 * Number of pages to touch, and maximum number of attempts. An attempt fails if another
 * thread maps or unmaps pages at the same time.
 */
#define PROBE_PAGES 3
#define PROBE_TRIES 3

static bool parse_number(const char **at, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	if (errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

int proc_statm_read(int fd, struct statm *ret)
{
	struct statm statm;
	const char *at;
	char text[128];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return procfs_normalize_errno(errno);
	if (n == 0)
		return -ESRCH;
	text[n] = '\0';
	at = text;
	if (!parse_number(&at, &statm.size_pages) ||
	    !parse_number(&at, &statm.resident_pages) ||
	    !parse_number(&at, &statm.shared_pages))
		return -EBADMSG;
	*ret = statm;
	return 0;
}

/* Touch the pages one by one. Return true if statm counts each of them. */
static bool counts_each(int fd, volatile char *pages, size_t page_bytes)
{
	struct statm before = { 0 }, after = { 0 };

	if (proc_statm_read(fd, &before) < 0)
		return false;
	for (size_t i = 0; i < PROBE_PAGES; i++) {
		pages[i * page_bytes] = 1;
		if (proc_statm_read(fd, &after) < 0 ||
		    after.resident_pages != before.resident_pages + 1)
			return false;
		before = after;
	}
	return true;
}

bool proc_statm_is_exact(void)
{
	_cleanup_close_ int fd = proc_own_open(PROC_STATM, O_RDONLY);
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	bool is_exact = false;

	for (int i = 0; fd >= 0 && i < PROBE_TRIES && !is_exact; i++) {
		void *pages = mmap(NULL, PROBE_PAGES * page_bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			return false;
		/* avoid huge pages, so that each page fault maps only one page */
		(void)madvise(pages, PROBE_PAGES * page_bytes, MADV_NOHUGEPAGE);
		is_exact = counts_each(fd, pages, page_bytes);
		munmap(pages, PROBE_PAGES * page_bytes);
	}
	return is_exact;
}
