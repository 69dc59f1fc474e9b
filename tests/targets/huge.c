/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Huge pages, transparent and from hugetlbfs. */
#include "config.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include "target.h"

#ifndef MADV_COLLAPSE
#	define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif

#define HUGE_PAGE (2 * MIB)

/*
 * MADV_COLLAPSE reports whether the page is huge now; MADV_HUGEPAGE
 * and a write only request it.
 */
void huge_run(char **args)
{
	size_t size = target_number(args[0]);
	char *p, *aligned;

	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	p = target_map_anonymous(size + HUGE_PAGE);
	aligned = p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	target_write(aligned, size);
	if (madvise(aligned, size, MADV_COLLAPSE) < 0)
		target_skip("MADV_COLLAPSE: no transparent huge pages here");
	target_say("rss_bytes", size);
	target_say("private_dirty_bytes", size);
	target_say("thp_bytes", size);
}

void hugetlb_run(char **args)
{
	size_t size = target_number(args[0]);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p == MAP_FAILED)
		target_skip("no huge page is free in the hugetlb pool");
	target_write(p, size);
	target_say("start", (uintptr_t)p);
	target_say("end", (uintptr_t)p + size);
	target_say("rss_bytes", 0);
	target_say("hugetlb_bytes", size);
}
