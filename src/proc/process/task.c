/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/task.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "proc/process/dir.h"

#define COMMAND_SIZE_MAX (64 * 1024)
/* size of a buffer on the stack, which is large enough for most command lines */
#define COMMAND_SIZE_SHORT 2048

void address_list_release(struct address_list *list)
{
	free(list->items);
	*list = (struct address_list)ADDRESS_LIST_INIT;
}

static void add_address(struct address_list *list, uint64_t addr)
{
	list->items = xgrow(list->items, &list->capacity, list->count + 1, sizeof(addr));
	list->items[list->count++] = addr;
}

/*
 * The format of the syscall file is "61 0x10bd 0x7ffc5c1cfbe8 … 0x7ffc5c1cfbb0
 * 0x7fec8c352c17" in a system call, "-1 0x7ffc5c1cfbb0 0x7fec8c352c17" outside of one,
 * and "running" if the thread is on a CPU. The second to last number is the stack
 * pointer.
 */
int proc_task_parse_syscall(const char *text, uint64_t *ret_stack_addr)
{
	const char *last = strrchr(text, ' ');
	const char *before = last ? memrchr(text, ' ', (size_t)(last - text)) : NULL;
	unsigned long long addr;
	char *end;

	if (strncmp(text, "running", 7) == 0)
		return -ENODATA;
	if (!before || strncmp(before, " 0x", 3) != 0)
		return -EBADMSG;
	errno = 0;
	addr = strtoull(before + 1, &end, 16);
	if (errno || end != last)
		return -EBADMSG;
	*ret_stack_addr = addr;
	return 0;
}

static int read_stack_pointer(const struct procfs *fs, int task_fd, int tid,
			      struct address_list *list)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[32];
	uint64_t addr;
	int r;

	snprintf(path, sizeof(path), "%d/syscall", tid);
	r = procfs_read_below(fs, task_fd, path, 4096, &text);
	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	r = proc_task_parse_syscall(strbuf_text(&text), &addr);
	if (r == 0)
		add_address(list, addr);
	return r;
}

int proc_task_read_stack_pointers(const struct procfs *fs, int pid,
				  struct address_list *list)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int fd = procfs_open_file(fs, pid, "task");

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		close(fd);
		return r;
	}
	while ((entry = readdir(dir))) {
		int tid;

		if (num_parse_pid(entry->d_name, &tid) < 0)
			continue;
		if (read_stack_pointer(fs, dirfd(dir), tid, list) == -EACCES)
			return -EACCES;
	}
	return 0;
}

static DIR *open_tasks(const struct procfs *fs, int pid)
{
	int fd = procfs_open_file(fs, pid, "task");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/*
 * Return true if the thread is alive. In its stat file, "12 (a) b) S 1 …", the state
 * letter follows the last parenthesis.
 */
static bool is_alive(const struct procfs *fs, int task_fd, int tid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[32];
	const char *close;

	snprintf(path, sizeof(path), "%d/stat", tid);
	if (procfs_read_below(fs, task_fd, path, 4096, &text) < 0)
		return false;
	close = strrchr(strbuf_text(&text), ')');
	return close && close[1] == ' ' && close[2] != 'Z' && close[2] != 'X';
}

int proc_task_find_alive(const struct procfs *fs, int pid)
{
	_cleanup_closedir_ DIR *dir = open_tasks(fs, pid);
	struct dirent *entry;
	int tid;

	while (dir && (entry = readdir(dir)))
		if (num_parse_pid(entry->d_name, &tid) == 0 &&
		    is_alive(fs, dirfd(dir), tid))
			return tid;
	return -ESRCH;
}

int proc_task_read_comm(const struct procfs *fs, int pid,
			char ret_comm[PROCESS_COMM_SIZE])
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "comm");
	char text[PROCESS_COMM_SIZE + 1];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return procfs_normalize_errno(errno);
	if (n > 0 && text[n - 1] == '\n') /* remove the newline added by the kernel */
		n--;
	text[n] = '\0';
	text_copy(ret_comm, PROCESS_COMM_SIZE, text);
	return 0;
}

/*
 * Read as much of a file as fits into the buffer. A command line may be megabytes long,
 * but memstate uses only its beginning.
 */
static int read_beginning(int fd, char *to, size_t size, size_t *ret_length)
{
	size_t length = 0;

	while (length < size) {
		ssize_t n = read(fd, to + length, size - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return procfs_normalize_errno(errno);
		if (n == 0)
			break;
		length += (size_t)n;
	}
	*ret_length = length;
	return 0;
}

int proc_task_read_command(const struct procfs *fs, int pid, char **ret)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "cmdline");
	_cleanup_free_ char *long_text = NULL;
	char short_text[COMMAND_SIZE_SHORT], *text = short_text;
	size_t length = 0, more = 0;
	int r;

	if (fd < 0)
		return fd;
	r = read_beginning(fd, short_text, sizeof(short_text), &length);
	if (r == 0 && length == sizeof(short_text)) {
		text = long_text = xmalloc(COMMAND_SIZE_MAX);
		memcpy(long_text, short_text, length);
		r = read_beginning(fd, long_text + length, COMMAND_SIZE_MAX - length,
				   &more);
		length += more;
	}
	if (r < 0)
		return r;
	while (length > 0 && text[length - 1] == '\0')
		length--;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	*ret = xstrndup(text, length);
	return 0;
}

int proc_task_read_arguments(const struct procfs *fs, int pid, char *to, size_t size,
			     size_t *ret_length)
{
	_cleanup_close_ int fd = procfs_open_file(fs, pid, "cmdline");

	return fd < 0 ? fd : read_beginning(fd, to, size, ret_length);
}

#define GO_NOTE_SEARCHED 65536

/*
 * Return true if the text contains the ELF note in which Go stores its build id. The note
 * consists of the length of the name, the length of the contents, the type (4), the name
 * "Go", and the contents.
 */
static bool has_go_note(const char *text, size_t length)
{
	static const char name_length[4] = { 4, 0, 0, 0 };
	static const char type_and_name[8] = { 4, 0, 0, 0, 'G', 'o', 0, 0 };

	for (size_t i = 0; i + 16 <= length; i += 4)
		if (memcmp(text + i, name_length, 4) == 0 &&
		    memcmp(text + i + 8, type_and_name, 8) == 0)
			return true;
	return false;
}

bool proc_task_is_go(const struct procfs *fs, int pid)
{
	_cleanup_free_ char *text = xmalloc(GO_NOTE_SEARCHED);
	_cleanup_close_ int process_fd = proc_dir_find(fs, pid);
	_cleanup_close_ int fd = proc_dir_open_program(process_fd);
	size_t length = 0;

	return fd >= 0 && read_beginning(fd, text, GO_NOTE_SEARCHED, &length) == 0 &&
	       has_go_note(text, length);
}
