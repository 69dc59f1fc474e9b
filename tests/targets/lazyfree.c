/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages freed with MADV_FREE: some are written again, some are shared
 * with a child that writes a few.
 */
#include "config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "target.h"

/* The last freed pages wait in this CPU's batch; another call flushes them. */
static void flush_batch(void)
{
	size_t page = target_page_size();
	char *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	char *q = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED || q == MAP_FAILED || madvise(q, page, MADV_FREE) < 0)
		target_fail("MADV_FREE");
	munmap(p, page);
	munmap(q, page);
}

static void wait_for_child(const int fds[2])
{
	char byte;

	close(fds[1]);
	if (read(fds[0], &byte, 1) != 1)
		target_fail("child");
	close(fds[0]);
}

static void fork_writer(char *p, size_t size)
{
	int parent = getpid();
	int fds[2];
	pid_t child;

	if (pipe(fds) < 0)
		target_fail("pipe");
	child = fork();
	if (child < 0)
		target_fail("fork");
	if (child == 0) {
		target_bind_to_parent(parent);
		target_write(p, size);
		if (write(fds[1], "", 1) != 1)
			target_fail("pipe");
		close(fds[0]);
		close(fds[1]);
		target_wait();
	}
	wait_for_child(fds);
	target_say("child", (uint64_t)child);
}

/*
 * [0, redirtied) is dirty, [redirtied, freed) is lazily freed, [freed, total) is dirty. A
 * child writes the first of the lazily freed pages, and so gets its own copies.
 */
void lazyfree_run(char **args)
{
	size_t total = target_number(args[0]);
	size_t freed = target_number(args[1]);
	size_t redirtied = target_number(args[2]);
	size_t written = args[3] ? target_number(args[3]) : 0;
	char *p = target_map_anonymous(total);

	target_write(p, total);
	if (madvise(p, freed, MADV_FREE) < 0)
		target_skip("MADV_FREE: not in this kernel");
	flush_batch();
	target_write(p, redirtied);
	target_say("rss_bytes", total);
	target_say("dirty_bytes", total - freed + redirtied);
	target_say("lazyfree_bytes", freed - redirtied);
	target_say("child_lazyfree_bytes", freed - redirtied - written);
	target_say("child_private_dirty_bytes", written);
	if (args[3])
		fork_writer(p + redirtied, written);
}
