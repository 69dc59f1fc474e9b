/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private anonymous memory: touched, never touched, discarded,
 * reserved, locked, swapped out.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "target.h"

void unbacked_run(char **args)
{
	size_t total = target_number(args[0]);
	size_t touched = target_number(args[1]);

	target_write(target_map_anonymous(total), touched);
	target_say("rss_bytes", touched);
	target_say("private_dirty_bytes", touched);
	target_say("unbacked_bytes", total - touched);
}

void dontneed_run(char **args)
{
	size_t total = target_number(args[0]);
	size_t dropped = target_number(args[1]);
	char *p = target_map_anonymous(total);

	target_write(p, total);
	if (madvise(p, dropped, MADV_DONTNEED) < 0)
		target_fail("MADV_DONTNEED");
	target_say("rss_bytes", total - dropped);
	target_say("private_dirty_bytes", total - dropped);
	target_say("unbacked_bytes", dropped);
}

void reserved_run(char **args)
{
	size_t size = target_number(args[0]);

	target_map(size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	target_say("rss_bytes", 0);
	target_say("reserved_bytes", size);
}

void locked_run(char **args)
{
	size_t size = target_number(args[0]);
	char *p = target_map_anonymous(size);

	if (mlock(p, size) < 0)
		target_skip("mlock: not so much may be locked here (ulimit -l)");
	target_say("rss_bytes", size);
	target_say("private_dirty_bytes", size);
	target_say("locked_bytes", size);
}

void swapped_run(char **args)
{
	size_t total = target_number(args[0]);
	size_t out = target_number(args[1]);
	char *p = target_map_anonymous(total);
	struct sysinfo info;

	if (sysinfo(&info) < 0 || info.freeswap * info.mem_unit < 2 * out)
		target_skip("there is no swap here, or too little");
	/* make each page different, so that pages cannot be merged */
	for (size_t i = 0; i < total; i += sizeof(size_t))
		memcpy(p + i, &i, sizeof(i));
	if (madvise(p, out, MADV_PAGEOUT) < 0)
		target_skip("MADV_PAGEOUT: not in this kernel");
	target_say("total_bytes", total);
	target_say("out_bytes", out);
}
