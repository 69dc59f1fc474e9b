/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/cgroup/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mount_line.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#define LIST_BYTES_MAX (4 << 20)
#define DEPTH_MAX 64
#define GROUPS_MAX 100000 /* maximum number of cgroups that a search visits */

void cgroup_mount_release(struct cgroup_mount *mount)
{
	free(mount->dir);
	free(mount->root);
	*mount = (struct cgroup_mount)CGROUP_MOUNT_INIT;
}

/* Return true if the list contains the word. Each character of `ends` separates words. */
static bool has_word(const char *list, const char *word, const char *ends)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ends), at += strspn(at, ends))
		if (strcspn(at, ends) == length && strncmp(at, word, length) == 0)
			return true;
	return false;
}

static bool has_memory_v2(const char *dir)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, list = STRBUF_INIT;

	strbuf_addf(&path, "%s/cgroup.controllers", dir);
	return io_read_file_at(AT_FDCWD, path.text, LIST_BYTES_MAX, &list) == 0 &&
	       has_word(strbuf_text(&list), "memory", " \n");
}

/*
 * Store the mount in *ret. Return false if the mount is not a cgroup hierarchy with the
 * memory controller.
 */
static bool convert_mount(const struct mount_line *mount, struct cgroup_mount *ret)
{
	bool is_v1 = strcmp(mount->type, "cgroup") == 0 &&
		     mount_line_find_option(mount, "memory");
	bool is_v2 = strcmp(mount->type, "cgroup2") == 0;

	if (!is_v1 && !(is_v2 && has_memory_v2(mount->point)))
		return false;
	*ret = (struct cgroup_mount)CGROUP_MOUNT_INIT;
	ret->version = is_v1 ? CGROUP_V1 : CGROUP_V2;
	ret->dir = xstrdup(mount->point);
	ret->root = xstrdup(mount->root);
	return true;
}

int cgroup_mount_find(const struct procfs *fs, struct cgroup_mount *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct mount_line mount;
	char *rest;
	int r;

	/*
	 * do not use the mount points listed in a captured /proc, which would refer to
	 * directories of this machine
	 */
	if (fs->is_foreign)
		return -EOPNOTSUPP;
	r = procfs_read_path(fs, "self/mountinfo", LIST_BYTES_MAX, &text);
	if (r < 0)
		return r;
	rest = text.text;
	while (mount_line_next(&rest, &mount))
		if (convert_mount(&mount, ret))
			return 0;
	return -EOPNOTSUPP;
}

/*
 * Return the path in a line of /proc/PID/cgroup, such as "4:memory:/a/b" or "0::/a/b".
 * Return NULL if the line belongs to a hierarchy without the memory controller.
 */
static const char *parse_group(const struct cgroup_mount *mount, char *line)
{
	char *number = strsep(&line, ":"), *controllers = strsep(&line, ":");

	if (!line)
		return NULL;
	if (mount->version == CGROUP_V1)
		return has_word(controllers, "memory", ",") ? line : NULL;
	return strcmp(number, "0") == 0 && controllers[0] == '\0' ? line : NULL;
}

static size_t count_segments(const char *path)
{
	size_t count = 0;

	for (; *path; path++)
		count += *path == '/' && path[1] != '\0' && path[1] != '/';
	return count;
}

static bool has_pid(int dir_fd, int pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", pid);
	return io_read_file_at(dir_fd, "cgroup.procs", LIST_BYTES_MAX, &text) == 0 &&
	       has_word(strbuf_text(&text), digits, "\n");
}

/* A walk over all cgroups below a mount. */
struct group_walk {
	struct strbuf path; /* path of the directory that the walk has reached */
	size_t left;	    /* number of directories that the walk may still search */
	/*
	 * function to call for each cgroup; returns 0 to continue, 1 if it has found the
	 * cgroup, or -errno
	 */
	int (*look)(struct group_walk *walk, int dir_fd, size_t depth);
	const char *id;
	int pid;
	char *found;
};

static int walk_groups(struct group_walk *walk, int dir_fd, size_t depth);

static int walk_child(struct group_walk *walk, int dir_fd, const struct dirent *entry,
		      size_t depth)
{
	size_t before = walk->path.length;
	_cleanup_close_ int fd = -1;
	int r;

	if (entry->d_name[0] == '.' ||
	    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return 0;
	fd = openat(dir_fd, entry->d_name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0; /* the directory was removed, or the entry is not a directory */
	strbuf_addf(&walk->path, "/%s", entry->d_name);
	r = walk_groups(walk, fd, depth + 1);
	strbuf_truncate(&walk->path, before);
	return r;
}

static int walk_groups(struct group_walk *walk, int dir_fd, size_t depth)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int r, fd;

	if (depth > DEPTH_MAX || walk->left == 0)
		return 0;
	walk->left--;
	r = walk->look(walk, dir_fd, depth);
	if (r != 0)
		return r;
	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (r == 0 && (entry = readdir(dir)))
		r = walk_child(walk, dir_fd, entry, depth);
	return r;
}

static int walk_all(const struct cgroup_mount *mount, struct group_walk *walk)
{
	_cleanup_close_ int fd = open(mount->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	walk->left = GROUPS_MAX;
	r = walk_groups(walk, fd, 0);
	strbuf_release(&walk->path);
	return r;
}

static int check_group_pid(struct group_walk *walk, int dir_fd, size_t depth)
{
	if (depth == 0 || !has_pid(dir_fd, walk->pid))
		return 0;
	walk->found = xstrdup(strbuf_text(&walk->path));
	return 1;
}

/*
 * Find the cgroup of a process by searching all cgroups for pid. Used if the root of the
 * mount is outside the cgroup namespace, because the paths in /proc/PID/cgroup are then
 * not relative to the mount.
 */
static int find_by_pid(const struct cgroup_mount *mount, int pid, char **ret_path)
{
	struct group_walk walk = { .look = check_group_pid, .pid = pid };
	int r = walk_all(mount, &walk);

	if (r < 0)
		return r;
	if (r == 0)
		return -EXDEV;
	*ret_path = walk.found;
	return 0;
}

/* Convert a path in memstate's cgroup namespace to a path relative to the mount. */
static int map_path(const struct cgroup_mount *mount, const char *path, char **ret_path)
{
	size_t length = strlen(mount->root);

	if (strcmp(mount->root, "/") == 0)
		length = 0;
	else if (strncmp(path, mount->root, length) != 0 ||
		 (path[length] != '/' && path[length] != '\0'))
		return -EXDEV;
	if (strstr(path, "/..") && count_segments(path) > 0)
		return -EXDEV; /* the cgroup is outside memstate's cgroup namespace */
	*ret_path = xstrdup(strcmp(path + length, "/") == 0 ? "" : path + length);
	return 0;
}

int cgroup_mount_path_of(const struct cgroup_mount *mount, const struct procfs *fs,
			 int pid, char **ret_path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *rest, *line;
	int r = procfs_read_file(fs, pid, "cgroup", LIST_BYTES_MAX, &text);

	if (r < 0)
		return r;
	rest = text.text;
	while (rest && (line = strsep(&rest, "\n"))) {
		const char *path = parse_group(mount, line);

		if (path && strncmp(mount->root, "/..", 3) == 0)
			return find_by_pid(mount, pid, ret_path);
		if (path)
			return map_path(mount, path, ret_path);
	}
	return -EOPNOTSUPP;
}

static int check_group_id(struct group_walk *walk, int dir_fd, size_t depth)
{
	const char *name = strrchr(strbuf_text(&walk->path), '/');

	(void)dir_fd;
	/*
	 * Skip the descendants of a matching container, and the cgroup of the container's
	 * monitor process, whose name contains the same id.
	 */
	if (depth == 0 || !name || !strstr(name, walk->id) || strstr(name, "-conmon-"))
		return 0;
	if (walk->found &&
	    strncmp(walk->found, walk->path.text, strlen(walk->found)) == 0)
		return 0;
	if (walk->found)
		return -EEXIST;
	walk->found = xstrdup(walk->path.text);
	return 0;
}

static bool is_id(const char *name)
{
	return strlen(name) >= CGROUP_ID_LENGTH_MIN &&
	       name[strspn(name, "0123456789abcdef")] == '\0';
}

static bool is_group(const struct cgroup_mount *mount, const char *path)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	struct stat st;

	strbuf_addf(&file, "%s%s/cgroup.procs", mount->dir, path);
	return stat(file.text, &st) == 0;
}

static char *without_last_slashes(const char *path)
{
	size_t length = strlen(path);

	while (length > 0 && path[length - 1] == '/')
		length--;
	return xstrndup(path, length);
}

int cgroup_mount_resolve(const struct cgroup_mount *mount, const char *name,
			 char **ret_path)
{
	_cleanup_free_ char *path = without_last_slashes(name);
	_cleanup_strbuf_ struct strbuf below = STRBUF_INIT;
	struct group_walk walk = { .look = check_group_id, .id = path };
	size_t length = strlen(mount->dir);
	int r;

	if (strncmp(path, mount->dir, length) == 0 &&
	    (path[length] == '/' || path[length] == '\0') &&
	    is_group(mount, path + length)) {
		*ret_path = xstrdup(path + length);
		return 0;
	}
	strbuf_addf(&below, "%s%s", path[0] == '/' || path[0] == '\0' ? "" : "/", path);
	if (!strstr(below.text, "/..") && is_group(mount, below.text)) {
		*ret_path = strbuf_take(&below);
		return 0;
	}
	if (!is_id(path))
		return -ENOENT;
	r = walk_all(mount, &walk);
	if (r < 0 || !walk.found) {
		free(walk.found);
		return r < 0 ? r : -ENOENT;
	}
	*ret_path = walk.found;
	return 0;
}
