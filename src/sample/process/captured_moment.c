/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/process/captured_moment.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/units.h"
#include "base/xalloc.h"

#define NEEDS (NEED_STAT | NEED_UID | NEED_COMMAND)

/* Read the mappings of a process. On failure, u->error is set and the list is empty. */
static void read_mappings(struct sampler *sampler, struct usage *u, uint64_t unix_ms,
			  struct moment_mappings *ret)
{
	if (sampler_read_mappings(sampler, u, &ret->list) < 0)
		return;
	moment_mappings_set(ret, u, unix_ms);
}

static int read_moment(const struct procfs *fs, struct targets *targets,
		       struct moment *moment)
{
	struct sampler *sampler = sampler_new(fs, false);
	struct snapshot *all = &moment->processes;
	int r = sampler_list(sampler, targets, NEEDS, all);

	if (r == 0)
		moment->mappings = xcalloc(all->count + 1, sizeof(*moment->mappings));
	for (size_t i = 0; i < all->count && r == 0; i++)
		read_mappings(sampler, &all->usages[i], moment->unix_ms,
			      &moment->mappings[i]);
	sampler_free(sampler);
	return r;
}

int captured_moment_read(const char *dir, struct targets *targets, struct moment *ret)
{
	struct procfs fs = PROCFS_INIT;
	struct stat st;
	int r = procfs_open(&fs, dir);

	moment_release(ret);
	if (r < 0)
		return r;
	r = stat(dir, &st) < 0 ? -errno : 0;
	if (r == 0) {
		ret->unix_ms = (uint64_t)st.st_mtim.tv_sec * 1000 +
			       (uint64_t)st.st_mtim.tv_nsec / NS_PER_MS;
		r = read_moment(&fs, targets, ret);
	}
	procfs_release(&fs);
	if (r < 0)
		moment_release(ret);
	return r;
}
