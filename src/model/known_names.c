/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/known_names.h"

#include <string.h>

const struct library_name library_names[] = {
	{ "libjemalloc", ALLOCATOR_JEMALLOC },
	{ "libtcmalloc", ALLOCATOR_TCMALLOC },
	{ "libmimalloc", ALLOCATOR_MIMALLOC },
	{ "ld-musl-", ALLOCATOR_MUSL },
	{ "libc.so.6", ALLOCATOR_GLIBC },
	{ "libc-2.", ALLOCATOR_GLIBC },
	/*
	 * On some systems, such as Debian, musl's loader is a symlink to libc.so, so
	 * smaps shows the name libc.so.
	 */
	{ "libc.so", ALLOCATOR_MUSL },
	{ NULL, ALLOCATOR_UNKNOWN },
};

const char *const shmem_prefixes[] = { "/memfd:", "/SYSV", "/dev/shm/", NULL };

static const char *const wrapper_names[] = {
	"sh",	   "bash",    "dash",	 "ksh",	   "mksh",	"zsh",	   "fish",
	"busybox", "env",     "timeout", "nice",   "nohup",	"setsid",  "stdbuf",
	"time",	   "taskset", "numactl", "ionice", "chrt",	"prlimit", "setpriv",
	"unshare", "nsenter", "chroot",	 "xargs",  "coreutils",
};

const struct library_name *library_name_find(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (const struct library_name *l = library_names; slash && l->prefix; l++)
		if (strncmp(slash + 1, l->prefix, strlen(l->prefix)) == 0)
			return l;
	return NULL;
}

/*
 * Go's heap is recognised by its preferred address on 64-bit machines, or by the name
 * that Go 1.25 and later gives its mappings.
 */
#define GO_ARENA_ADDR UINT64_C(0xc000000000)
#define GO_NAME "[anon: Go: "

bool is_heap_of_go(const struct mapping *m)
{
	return m->inode == 0 && (m->start_addr == GO_ARENA_ADDR ||
				 strncmp(m->name, GO_NAME, strlen(GO_NAME)) == 0);
}

bool is_code_of_erlang(const struct mapping *m)
{
	static const char start[] = "/beam.", end[] = "smp", deleted[] = " (deleted)";
	const char *file = strrchr(m->name, '/');
	size_t length;

	if (!(m->flags & MAPPING_EXEC) || m->inode == 0 || !file ||
	    strncmp(file, start, sizeof(start) - 1) != 0)
		return false;
	file += sizeof(start) - 1;
	length = strlen(file);
	if (length >= sizeof(deleted) - 1 &&
	    strcmp(file + length - (sizeof(deleted) - 1), deleted) == 0)
		length -= sizeof(deleted) - 1;
	return length >= sizeof(end) - 1 &&
	       strncmp(file + length - (sizeof(end) - 1), end, sizeof(end) - 1) == 0 &&
	       (length == sizeof(end) - 1 || file[length - sizeof(end)] == '.');
}

/*
 * Return true if the mapping contains code of a file with one of the names. A suffix such
 * as ".so.3.1" may follow the name. The array ends with NULL.
 */
static bool is_code_of(const struct mapping *m, const char *const files[])
{
	const char *file = strrchr(m->name, '/');

	if (!(m->flags & MAPPING_EXEC) || m->inode == 0 || !file)
		return false;
	for (; *files; files++) {
		const char *rest = file + 1 + strlen(*files);

		if (strncmp(file + 1, *files, strlen(*files)) == 0 &&
		    (rest[strspn(rest, "0123456789.-")] == '\0' ||
		     strncmp(rest, ".so", strlen(".so")) == 0 ||
		     strcmp(rest, " (deleted)") == 0))
			return true;
	}
	return false;
}

bool is_code_of_node(const struct mapping *m)
{
	static const char *const files[] = { "node", "nodejs", "libnode", NULL };

	return is_code_of(m, files);
}

bool is_code_of_ruby(const struct mapping *m)
{
	static const char *const files[] = { "ruby",	    "libruby",	   "libruby-3.1",
					     "libruby-3.2", "libruby-3.3", "libruby-3.4",
					     NULL };

	return is_code_of(m, files);
}

const char *shmem_prefix_find(const char *name)
{
	for (const char *const *prefix = shmem_prefixes; *prefix; prefix++)
		if (strncmp(name, *prefix, strlen(*prefix)) == 0)
			return *prefix;
	return NULL;
}

bool wrapper_name_is(const char *name)
{
	for (size_t i = 0; i < sizeof(wrapper_names) / sizeof(wrapper_names[0]); i++)
		if (strcmp(wrapper_names[i], name) == 0)
			return true;
	return false;
}
