/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/orphans.h"

#include <errno.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "probe/borrow/parcel.h"
#include "probe/borrow/private_code.h"
#include "probe/borrow/segment.h"
#include "proc/process/dir.h"
#include "tracee/ptrace/stop.h"

/* Maximum time for which the process may be paused while its threads are checked. */
#define CHECK_PAUSE_MAX_NS (100 * NS_PER_MS)
#define CANDIDATES_MAX 64

/*
 * Return true if, according to its attach count, the segment has no attachments other
 * than its mappings in this process and `others` known attachments.
 */
static bool is_alone(const struct mapping_list *mappings, const struct mapping *m,
		     uint64_t others)
{
	struct shmid_ds segment;
	uint64_t parts = 0;

	for (size_t i = 0; i < mappings->count; i++)
		parts += mappings->items[i].inode == m->inode &&
			 segment_is_mapped(&mappings->items[i]);
	return shmctl((int)m->inode, IPC_STAT, &segment) == 0 &&
	       segment.shm_nattch == parts + others;
}

static bool has_page(const struct orphans_search *search,
		     const struct mapping_list *mappings, uint64_t page_addr)
{
	const struct mapping *page = mapping_list_find(mappings, page_addr);

	/*
	 * if private code is mapped at the page's address, the helper's stub has not
	 * attached the shared page yet
	 */
	if (private_code_covers(mappings, page_addr, AGENT_PAGE_BYTES))
		return true;
	return page && page->start_addr == page_addr &&
	       segment_is_whole(page, AGENT_PAGE_BYTES) &&
	       (page->flags & MAPPING_ACCESS) == (MAPPING_READ | MAPPING_WRITE) &&
	       is_alone(mappings, page, search->own_addr == page_addr);
}

/*
 * Return true if the helper's stack is mapped. The stub maps the stack over the end
 * of the helper's address range, and the kernel may have merged it with the
 * following mapping.
 */
static bool has_stack(const struct mapping_list *mappings, uint64_t stack_addr)
{
	const struct mapping *stack = mapping_list_find(mappings, stack_addr);

	if (private_code_covers(mappings, stack_addr, PARCEL_STACK_BYTES))
		return true;
	return stack && stack->start_addr == stack_addr &&
	       stack->end_addr >= stack_addr + PARCEL_STACK_BYTES &&
	       private_code_is_mapping(stack, MAPPING_READ | MAPPING_WRITE);
}

static bool is_orphan(const struct orphans_search *search,
		      const struct mapping_list *mappings, uint64_t addr)
{
	return private_code_covers(mappings, addr, PARCEL_CODE_BYTES) &&
	       parcel_exists(search->mem_fd, addr, search->marks) &&
	       has_page(search, mappings, parcel_page_addr(addr)) &&
	       has_stack(mappings, parcel_stack_addr(addr));
}

size_t orphans_find(const struct orphans_search *search,
		    const struct mapping_list *mappings, uint64_t ret[ORPHANS_MAX])
{
	const struct private_code_mark mark = { { AGENT_MAGIC, AGENT_VERSION },
						PARCEL_MAGIC_OFFSET };
	uint64_t found[CANDIDATES_MAX];
	size_t count = 0, candidates;

	candidates =
		private_code_find(mappings, search->mem_fd, &mark, found, CANDIDATES_MAX);
	for (size_t i = 0; i < candidates && count < ORPHANS_MAX; i++)
		if (is_orphan(search, mappings, found[i]))
			ret[count++] = found[i];
	return count;
}

static int check_threads(void *context, const struct stop *stop)
{
	const uint64_t *addr = context;

	for (size_t i = 0; i < stop->count; i++)
		if (stop->threads[i].code_addr - *addr < PARCEL_BYTES ||
		    stop->threads[i].stack_addr - *addr <= PARCEL_BYTES)
			return -EBUSY;
	return 0;
}

bool orphans_is_empty(const struct orphans_search *search, uint64_t addr)
{
	_cleanup_close_ int task_fd = proc_dir_open_threads(search->process_fd);
	const struct stop_request request = {
		.pid = search->request->pid,
		.task_fd = task_fd,
		.limit_ns = CHECK_PAUSE_MAX_NS,
		.work = check_threads,
		.context = &addr,
	};
	uint64_t pause_ns;

	/*
	 * a thread that sleeps in the helper's code can be found without
	 * stopping any thread
	 */
	return task_fd >= 0 && parcel_find_thread(search->process_fd, addr) == 0 &&
	       stop_run(&request, &pause_ns) == 0;
}
