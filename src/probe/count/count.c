/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/count.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/count/abi.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "probe/count/reader.h"
#include "probe/helper/agent_library.h"
#include "proc/system/foreign_file.h"

#define FOLDER_PREFIX "memstate-count-"

/* Maximum size of a counts file that memstate reads. No program needs a larger file. */
#define COUNT_FILE_BYTES_MAX (UINT64_C(1) << 36)

const char count_folder_variable[] = COUNT_FOLDER_VARIABLE;

static void remove_files(int fd)
{
	int copy = dup(fd);
	_cleanup_closedir_ DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(fd, entry->d_name, 0);
}

/*
 * Remove the folders of memstate processes that were killed. Their names have the form
 * "memstate-count-PID-XXXXXX".
 */
static void remove_abandoned(const char *where)
{
	_cleanup_closedir_ DIR *dir = opendir(where);
	const size_t prefix = strlen(FOLDER_PREFIX);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_cleanup_free_ char *number = NULL;
		_cleanup_close_ int fd = -1;
		struct stat st;
		int pid;

		if (strncmp(entry->d_name, FOLDER_PREFIX, prefix) != 0)
			continue;
		number = xstrndup(entry->d_name + prefix,
				  strcspn(entry->d_name + prefix, "-"));
		if (num_parse_pid(number, &pid) < 0 || kill(pid, 0) == 0 ||
		    errno != ESRCH)
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid())
			continue;
		remove_files(fd);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
}

/* Check that there is space for a counts file of full size. Return 0 or -errno. */
static int try_room(int fd)
{
	_cleanup_close_ int file =
		openat(fd, "room", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct rlimit limit;
	int r;

	if (file < 0)
		return -errno;
	/* a write beyond the file size limit would kill memstate with SIGXFSZ */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur < COUNT_HEAD_BYTES + COUNT_GROW_BYTES)
		r = -EFBIG;
	else
		r = fallocate(file, 0, 0, COUNT_HEAD_BYTES + COUNT_GROW_BYTES) < 0
			    ? -errno
			    : 0;
	unlinkat(fd, "room", 0);
	return r;
}

/*
 * Minimum limit on open files for a counted program. If the limit that the program
 * inherits from memstate is lower, memstate reports it as the reason for a missing counts
 * file.
 */
#define DESCRIPTORS_MIN 32

const char *count_folder_problem(const struct count_folder *folder)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS_MIN)
		return "the limit on open files (RLIMIT_NOFILE) is too low";
	switch (try_room(folder->fd)) {
	case -EMFILE:
	case -ENFILE: return "no more files can be opened (RLIMIT_NOFILE or fs.file-max)";
	case -ENOSPC:
	case -EDQUOT: return "no space for a file";
	case -EFBIG: return "the limit on file sizes (RLIMIT_FSIZE) is too low";
	default:
		return "a file could not be created: no permission to write it, or the "
		       "program's limit on open files (RLIMIT_NOFILE) was reached";
	}
}

static int create_in(struct count_folder *folder, const char *where)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	int fd, r;

	remove_abandoned(where);
	strbuf_addf(&path, "%s/" FOLDER_PREFIX "%d-XXXXXX", where, (int)getpid());
	if (!mkdtemp(path.text))
		return -errno;
	fd = open(path.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : try_room(fd);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		rmdir(path.text);
		return r;
	}
	folder->path = strbuf_take(&path);
	folder->fd = fd;
	return 0;
}

int count_folder_create(struct count_folder *folder, const char **ret_where)
{
	/*
	 * prefer a file system in memory, because on a disk the kernel would repeatedly
	 * write back changed pages
	 */
	const char *const places[] = { "/dev/shm", getenv("XDG_RUNTIME_DIR"),
				       getenv("TMPDIR"), "/tmp" };
	int r = -ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i] || places[i][0] != '/')
			continue;
		*ret_where = places[i];
		r = create_in(folder, places[i]);
		if (r == 0)
			return 0;
	}
	return r;
}

void count_folder_release(struct count_folder *folder)
{
	for (size_t i = 0; i < folder->file_count; i++)
		close(folder->files[i].fd);
	if (folder->dir)
		closedir(folder->dir);
	if (folder->path) {
		remove_files(folder->fd);
		rmdir(folder->path);
		close(folder->fd);
	}
	free(folder->path);
	free(folder->bytes);
	*folder = (struct count_folder)COUNT_FOLDER_INIT;
}

/*
 * Parse the name of a counts file, such as "4242.0", which consists of a pid and a
 * generation: 0 for the first program with the pid, 1 for the program that replaced it
 * through execve(), and so on.
 */
static bool parse_name(const char *name, int *ret_pid, unsigned int *ret_generation)
{
	_cleanup_free_ char *pid = xstrndup(name, strcspn(name, "."));
	uint64_t generation;

	if (name[strlen(pid)] != '.' || num_parse_pid(pid, ret_pid) < 0 ||
	    num_parse_u64(name + strlen(pid) + 1, &generation) < 0 ||
	    generation > UINT32_MAX)
		return false;
	*ret_generation = (unsigned int)generation;
	return true;
}

#define TRIES 3

/* Return the used size of a counts file. The remainder of the file is a hole. */
static size_t used_bytes(const char *bytes)
{
	const struct count_head *head = (const void *)bytes;
	uint64_t count = head->slot_count < COUNT_SLOT_MAX ? head->slot_count
							   : COUNT_SLOT_MAX;

	return COUNT_HEAD_BYTES + (size_t)count * COUNT_SLOT_BYTES;
}

/*
 * Read the used part of a counts file into folder->bytes, which grows as needed. Return
 * the number of bytes read, or -errno.
 */
static ssize_t read_whole(int fd, struct count_folder *folder)
{
	for (;;) {
		ssize_t n = pread(fd, folder->bytes, folder->capacity, 0);

		if (n < 0)
			return -errno;
		if ((size_t)n < folder->capacity ||
		    used_bytes(folder->bytes) <= folder->capacity)
			return n;
		folder->bytes = xgrow(folder->bytes, &folder->capacity,
				      used_bytes(folder->bytes), 1);
	}
}

/*
 * Like read_whole(), but read the file again if the program was moving counts between
 * slots during the read.
 */
static ssize_t read_file(int fd, struct count_folder *folder)
{
	ssize_t n = 0;

	if (!folder->bytes)
		folder->bytes = xgrow(folder->bytes, &folder->capacity,
				      COUNT_HEAD_BYTES + 2 * COUNT_GROW_BYTES, 1);
	for (int i = 0; i < TRIES; i++) {
		n = read_whole(fd, folder);
		if (!count_is_torn(folder->bytes, n < 0 ? 0 : (size_t)n))
			break;
	}
	return n;
}

/*
 * Open a file in the folder for counts files. Return a descriptor or -errno. The file is
 * untrusted, because the counted processes can replace it with any other file, such as a
 * FIFO.
 */
static int open_file(const struct count_folder *folder, const char *name)
{
	return foreign_file_open_entry(folder->fd, name, COUNT_FILE_BYTES_MAX);
}

/* Return the descriptor of the program's counts file if memstate keeps it open, or -1. */
static int find_kept(const struct count_folder *folder, const struct count_program *p)
{
	for (size_t i = 0; i < folder->file_count; i++)
		if (folder->files[i].pid == p->pid &&
		    folder->files[i].generation == p->generation)
			return folder->files[i].fd;
	return -1;
}

static void keep_or_close(struct count_folder *folder, const struct count_program *p,
			  int fd)
{
	if (folder->file_count == COUNT_FILES_KEPT) {
		close(fd);
		return;
	}
	folder->files[folder->file_count++] = (struct count_file){
		.pid = p->pid,
		.fd = fd,
		.generation = p->generation,
	};
}

static void read_program(struct count_folder *folder, const char *name,
			 struct count_list *list)
{
	struct count_program p = { 0 };
	ssize_t length;
	bool is_kept;
	int fd;

	if (!parse_name(name, &p.pid, &p.generation))
		return;
	fd = find_kept(folder, &p);
	is_kept = fd >= 0;
	if (!is_kept)
		fd = open_file(folder, name);
	length = fd < 0 ? -ENOENT : read_file(fd, folder);
	if (length < 0 || count_read_program(folder->bytes, (size_t)length, &p) < 0) {
		list->unreadable_count += length == 0;
		if (fd >= 0 && !is_kept)
			close(fd);
		return;
	}
	if (!is_kept)
		keep_or_close(folder, &p, fd);
	p.has_ended = kill(p.pid, 0) < 0 && errno == ESRCH;
	list->programs = xgrow(list->programs, &list->capacity, list->count + 1,
			       sizeof(*list->programs));
	list->programs[list->count++] = p;
}

static int compare_programs(const void *a, const void *b)
{
	const struct count_program *p = a, *q = b;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	return (p->generation > q->generation) - (p->generation < q->generation);
}

int count_folder_read(struct count_folder *folder, struct count_list *list)
{
	struct dirent *entry;
	int r;

	if (!folder->dir) {
		int copy = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		folder->dir = copy < 0 ? NULL : fdopendir(copy);
		if (!folder->dir) {
			r = -errno;
			if (copy >= 0)
				close(copy);
			return r;
		}
	}
	count_list_release(list);
	rewinddir(folder->dir);
	while ((entry = readdir(folder->dir)))
		read_program(folder, entry->d_name, list);
	if (list->count > 1)
		qsort(list->programs, list->count, sizeof(*list->programs),
		      compare_programs);
	/*
	 * if there is another counts file for the pid, with a higher generation, this
	 * program has ended by calling execve()
	 */
	for (size_t i = 1; i < list->count; i++)
		if (list->programs[i - 1].pid == list->programs[i].pid)
			list->programs[i - 1].has_ended = true;
	return 0;
}

int count_find_library(enum count_library library, bool with_new, char **ret)
{
	static const char *const names[][2] = {
		[COUNT_LIBRARY_BLOCKS] = { "libmemstate-count.so",
					   "libmemstate-count-new.so" },
		[COUNT_LIBRARY_CALLS] = { "libmemstate-count-calls.so",
					  "libmemstate-count-calls-new.so" },
		[COUNT_LIBRARY_STACKS] = { "libmemstate-count-stacks.so",
					   "libmemstate-count-stacks-new.so" },
	};

	return agent_library_find_named(names[library][with_new], ret);
}

int count_find_family_library(enum count_family family, char **ret)
{
	static const char *const names[COUNT_FAMILY_COUNT_] = {
		[COUNT_FAMILY_STANDARD] = "libmemstate-count-jemalloc.so",
		[COUNT_FAMILY_JE] = "libmemstate-count-je.so",
		[COUNT_FAMILY_RJEM] = "libmemstate-count-rjem.so",
		[COUNT_FAMILY_MI] = "libmemstate-count-mimalloc.so",
		[COUNT_FAMILY_TC] = "libmemstate-count-tcmalloc.so",
	};

	return agent_library_find_named(names[family], ret);
}
