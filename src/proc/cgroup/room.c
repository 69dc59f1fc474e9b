/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/room.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mount_line.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/cgroup/parse.h"
#include "proc/system/meminfo.h"

#define MOUNTINFO_SIZE_MAX (4 * 1024 * 1024)
#define FILE_SIZE_MAX 65536

/*
 * The names that differ between cgroup v1 and v2. Sources: cgroups(7),
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
 */
static const struct version {
	const char *type; /* file system type */
	/* name of the controller in the mount options and in /proc/self/cgroup */
	const char *controller;
	/*
	 * names of the limit and usage files, and the key of the page
	 * cache in memory.stat
	 */
	const char *limit, *usage, *cache;
} versions[] = {
	{ "cgroup2", "", "memory.max", "memory.current", "inactive_file" },
	{ "cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "total_inactive_file" },
};

static void lower(struct room *room, uint64_t bytes, const char *limit)
{
	if (bytes_known(bytes) && (!bytes_known(room->bytes) || bytes < room->bytes))
		*room = (struct room){ bytes, limit };
}

/*
 * Return true if a comma-separated list contains the word. For an empty list, return true
 * only if the word is empty.
 */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	if (length == 0)
		return *list == '\0';
	for (; *list; list += strspn(list, ",")) {
		size_t size = strcspn(list, ",");

		if (size == length && strncmp(list, word, length) == 0)
			return true;
		list += size;
	}
	return false;
}

/*
 * Return the path in the line of /proc/self/cgroup for this cgroup version, such as
 * "9:memory:/user.slice" or "0::/user.slice". Return NULL if there is no such line. The
 * path points into text.
 */
static const char *find_path(char *text, const struct version *version)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (has_word(list + 1, version->controller))
			return path;
	}
	return NULL;
}

static bool find_mount(char *text, const struct version *version, struct mount_line *ret)
{
	while (mount_line_next(&text, ret))
		if (strcmp(ret->type, version->type) == 0 &&
		    (!*version->controller ||
		     mount_line_find_option(ret, version->controller)))
			return true;
	return false;
}

static int read_text(const char *folder, const char *file, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/%s", folder, file);
	return io_read_file_at(-1, strbuf_text(&path), FILE_SIZE_MAX, out);
}

/*
 * Return the amount in a file, or BYTES_UNKNOWN if the file cannot be read or contains
 * "max", which means no limit.
 */
static uint64_t read_amount(const char *folder, const char *file)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t bytes;

	if (read_text(folder, file, &text) < 0 || text.length == 0)
		return BYTES_UNKNOWN;
	text.text[strcspn(text.text, "\n")] = '\0';
	return num_parse_u64(text.text, &bytes) < 0 ? BYTES_UNKNOWN : bytes;
}

/*
 * Return the size of the inactive page cache, which the kernel drops before an
 * allocation fails.
 */
static uint64_t read_cache(const char *folder, const char *key)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t bytes;

	if (read_text(folder, "memory.stat", &text) < 0 ||
	    !cgroup_find_value(strbuf_text(&text), key, &bytes))
		return 0;
	return bytes;
}

static void lower_by_folder(struct room *room, const char *folder,
			    const struct version *version)
{
	uint64_t limit = read_amount(folder, version->limit);
	uint64_t usage = read_amount(folder, version->usage);
	uint64_t cache;

	if (!bytes_known(limit) || !bytes_known(usage))
		return;
	cache = read_cache(folder, version->cache);
	usage -= cache < usage ? cache : usage;
	lower(room, limit > usage ? limit - usage : 0, "the limit of memstate's cgroup");
}

/*
 * Reduce *room to the amount that the cgroup at path and its ancestors, up to the root of
 * the mount, may still use.
 */
static void lower_by_cgroup(struct room *room, const struct mount_line *mount,
			    const char *path, const struct version *version)
{
	_cleanup_strbuf_ struct strbuf folder = STRBUF_INIT;
	size_t root_length = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	size_t point_length = strlen(mount->point);

	/*
	 * in a container, the path may be the host's path of the cgroup, although only
	 * the container's own cgroup is mounted
	 */
	if (strncmp(path, mount->root, root_length) == 0 &&
	    strchr("/", path[root_length]))
		path += root_length;
	else
		path = "";
	strbuf_addf(&folder, "%s%s", mount->point, strstr(path, "/..") ? "" : path);
	while (folder.length >= point_length) {
		char *slash = strrchr(folder.text, '/');

		lower_by_folder(room, folder.text, version);
		if (!slash)
			break;
		strbuf_truncate(&folder, (size_t)(slash - folder.text));
	}
}

static void lower_by_cgroups(struct room *room, const struct procfs *fs)
{
	_cleanup_strbuf_ struct strbuf cgroups = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf mounts = STRBUF_INIT;

	/*
	 * do not use the mount points listed in a captured /proc, which would refer to
	 * directories of this machine
	 */
	if (fs->is_foreign ||
	    procfs_read_path(fs, "self/cgroup", FILE_SIZE_MAX, &cgroups) < 0 ||
	    procfs_read_path(fs, "self/mountinfo", MOUNTINFO_SIZE_MAX, &mounts) < 0)
		return;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		_cleanup_free_ char *lines = xstrdup(strbuf_text(&cgroups));
		_cleanup_free_ char *table = xstrdup(strbuf_text(&mounts));
		const char *path = find_path(lines, &versions[i]);
		struct mount_line mount;

		if (path && find_mount(table, &versions[i], &mount))
			lower_by_cgroup(room, &mount, path, &versions[i]);
	}
}

/*
 * Reduce *room to the amount that RLIMIT_AS still allows. The kernel applies this limit
 * to the virtual size, the first number in statm ("2345 678 …", in pages).
 */
static void lower_by_rlimit(struct room *room, const struct procfs *fs)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct rlimit limit;
	uint64_t bytes;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	    procfs_read_path(fs, "self/statm", FILE_SIZE_MAX, &text) < 0)
		return;
	bytes = strtoull(strbuf_text(&text), NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	lower(room, bytes < limit.rlim_cur ? limit.rlim_cur - bytes : 0,
	      "memstate's limit on address space (ulimit -v)");
}

struct room proc_room_read(const struct procfs *fs)
{
	struct room room = { BYTES_UNKNOWN, "" };
	uint64_t available;

	if (proc_meminfo_read(fs, "MemAvailable", &available) == 0)
		lower(&room, available, "the machine's free memory");
	lower_by_cgroups(&room, fs);
	lower_by_rlimit(&room, fs);
	return room;
}
