/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extreme processes: very many mappings, and a name that no terminal should receive. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "target.h"

/*
 * Map pages with alternating permissions, which do not merge.
 * One page in four is touched.
 */
void mappings_run(char **args)
{
	size_t count = target_number(args[0]);
	size_t page = target_page_size();
	char *p = target_map_anonymous(count * page);
	size_t touched = 0;

	for (size_t i = 0; i < count; i++) {
		if (i % 4 == 0) {
			target_write(p + i * page, page);
			touched += page;
		}
		if (i % 2 && mprotect(p + i * page, page, PROT_READ) < 0)
			target_skip("not so many mappings here (vm.max_map_count)");
	}
	target_say("mappings", count);
	target_say("rss_bytes", touched);
	target_say("private_dirty_bytes", touched);
	target_say("unbacked_bytes", count * page - touched);
}

void name_run(char **args)
{
	size_t size = 16 * target_page_size();
	int fd;

	prctl(PR_SET_NAME, args[0]);
	if (!args[1])
		return;
	fd = open(args[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		target_fail("open");
	target_read(target_map(size, PROT_READ, MAP_SHARED, fd), size);
	close(fd);
}
