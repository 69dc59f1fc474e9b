/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/known_names.h"

#include <string.h>

const struct library_name library_names[] = {
	{ "libjemalloc", ALLOCATOR_JEMALLOC }, { "libtcmalloc", ALLOCATOR_TCMALLOC },
	{ "libmimalloc", ALLOCATOR_MIMALLOC }, { "ld-musl-", ALLOCATOR_MUSL },
	{ "libc.so.6", ALLOCATOR_GLIBC },      { "libc-2.", ALLOCATOR_GLIBC },
	{ "libc.so", ALLOCATOR_MUSL }, /* where its loader is a link to it, as on Debian */
	{ NULL, ALLOCATOR_UNKNOWN },
};

const char *const shmem_prefixes[] = { "/memfd:", "/SYSV", "/dev/shm/", NULL };

const struct library_name *library_name_find(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (const struct library_name *l = library_names; slash && l->prefix; l++)
		if (strncmp(slash + 1, l->prefix, strlen(l->prefix)) == 0)
			return l;
	return NULL;
}

const char *shmem_prefix_find(const char *name)
{
	for (const char *const *prefix = shmem_prefixes; *prefix; prefix++)
		if (strncmp(name, *prefix, strlen(*prefix)) == 0)
			return *prefix;
	return NULL;
}
