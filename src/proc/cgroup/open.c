/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "proc/cgroup/reader.h"

static void level_release(struct level_reader *level)
{
	for (int i = 0; i < FILE_COUNT_; i++)
		if (level->fds[i] >= 0)
			close(level->fds[i]);
	if (level->dir_fd >= 0)
		close(level->dir_fd);
	free(level->path);
}

void cgroup_reader_free(struct cgroup_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->level_count; i++)
		level_release(&reader->levels[i]);
	strbuf_release(&reader->full_path);
	if (reader->own_fd >= 0)
		close(reader->own_fd);
	strbuf_release(&reader->text);
	free(reader);
}

static bool has_file(int dir_fd, const char *name)
{
	return faccessat(dir_fd, name, F_OK, 0) == 0;
}

bool cgroup_reader_exists(const struct cgroup_reader *reader)
{
	return has_file(reader->own_fd, "cgroup.procs");
}

/*
 * Return true if the directory is the machine's root cgroup, which lacks some files of
 * ordinary cgroups and has other files of its own.
 */
static bool is_real_root(enum cgroup_version version, int dir_fd)
{
	return version == CGROUP_V1 ? has_file(dir_fd, "release_agent")
				    : !has_file(dir_fd, "memory.max") &&
					      !has_file(dir_fd, "cgroup.events");
}

static int open_level(struct cgroup_reader *reader, const char *dir, const char *path)
{
	struct level_reader *level = &reader->levels[reader->level_count];
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_addf(&name, "%s%s", dir, path);
	level->dir_fd = open(name.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (level->dir_fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (reader->own_fd < 0)
		reader->own_fd = fcntl(level->dir_fd, F_DUPFD_CLOEXEC, 0);
	if (reader->own_fd < 0) {
		/*
		 * fail without own_fd, which would otherwise become the directory of an
		 * ancestor when the next level is opened
		 */
		int r = -errno;

		close(level->dir_fd);
		return r;
	}
	for (int i = 0; i < FILE_COUNT_; i++)
		level->fds[i] = FD_NOT_YET;
	level->is_real_root = is_real_root(reader->version, level->dir_fd);
	level->is_charged = reader->version == CGROUP_V1 ||
			    has_file(level->dir_fd, "memory.max");
	level->path = xstrdup(path[0] ? path : "/");
	reader->level_count++;
	return 0;
}

/*
 * Remove the level opened last if the kernel charges its memory to an ancestor. The
 * ancestor then becomes the first level.
 */
static void leave_out_uncharged(struct cgroup_reader *reader)
{
	struct level_reader *last = &reader->levels[reader->level_count - 1];

	/*
	 * a removed cgroup has no files at all; keep its level, so that
	 * cgroup_reader_read() detects the removal
	 */
	if (reader->level_count > 1 || last->is_charged ||
	    !has_file(last->dir_fd, "cgroup.procs"))
		return;
	level_release(last);
	*last = (struct level_reader){ 0 };
	reader->level_count = 0;
}

/* Open all levels, from the cgroup up to the root of the mount. */
static int open_levels(struct cgroup_reader *reader, const struct cgroup_mount *mount,
		       const char *path)
{
	_cleanup_free_ char *at = xstrdup(path);
	int r;

	for (;;) {
		if (reader->level_count == LEVELS_MAX)
			return -ELOOP;
		r = open_level(reader, mount->dir, at);
		if (r < 0)
			return r;
		if (at[0] == '\0')
			return 0;
		leave_out_uncharged(reader);
		*strrchr(at, '/') = '\0';
	}
}

const char *cgroup_reader_full_path(const struct cgroup_reader *reader)
{
	return strbuf_text(&reader->full_path);
}

int cgroup_reader_open(const struct cgroup_mount *mount, const char *path,
		       struct cgroup_reader **ret)
{
	struct cgroup_reader *reader = xcalloc(1, sizeof(*reader));
	int r;

	reader->version = mount->version;
	reader->own_fd = -1;
	if (path[0] != '\0' && path[0] != '/')
		r = -EINVAL;
	else
		r = open_levels(reader, mount, path);
	if (r == 0 && !cgroup_reader_exists(reader))
		r = -ESRCH;
	if (r < 0) {
		cgroup_reader_free(reader);
		return r;
	}
	if (strcmp(mount->root, "/") != 0 && !strstr(mount->root, "/.."))
		strbuf_add_text(&reader->full_path, mount->root);
	strbuf_add_text(&reader->full_path, path);
	reader->is_cut = !reader->levels[reader->level_count - 1].is_real_root;
	*ret = reader;
	return 0;
}

uint64_t cgroup_reader_id(const struct cgroup_reader *reader)
{
	struct stat st;

	return fstat(reader->own_fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}
