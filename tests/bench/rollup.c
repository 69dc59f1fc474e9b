/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup - the baseline for a sample of all processes: read every smaps_rollup in /proc
 * once, without parsing. No faster way to all PSS figures is known.
 */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>

#include "bench.h"

int main(void)
{
	static char buffer[4096];
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		bench_die("/proc");
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			bench_read_bare(atoi(entry->d_name), "smaps_rollup", buffer,
					sizeof(buffer));
	closedir(proc);
	return 0;
}
