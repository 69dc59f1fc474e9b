/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/capture/read.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/key_lines.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/file.h"
#include "proc/process/stat.h"
#include "proc/process/task.h"
#include "proc/smaps/smaps.h"
#include "proc/system/file.h"

/*
 * Maximum number of attempts to read a process that calls execve() while
 * memstate captures it.
 */
#define READ_TRIES 3

/*
 * Maximum size of an smaps file in bytes, which suffices for the largest memory map at
 * 700 bytes per mapping.
 */
#define SMAPS_SIZE_MAX (512 * MIB)
#define FILE_SIZE_MAX (4 * MIB)

typedef int (*redact_fn)(struct redactor *r, const char *text, size_t length,
			 struct strbuf *out);

static const struct process_file {
	enum proc_file file;
	/* function that redacts the file; NULL to copy the file unchanged */
	redact_fn redact;
} process_files[] = {
	{ PROC_SMAPS_ROLLUP, redact_smaps },
	{ PROC_STAT, NULL },
	{ PROC_STATM, NULL },
	{ PROC_STATUS, NULL },
	{ PROC_COMM, NULL },
	{ PROC_CMDLINE, redact_cmdline },
	{ PROC_MOUNTINFO, redact_mountinfo },
};

static const enum proc_file task_files[] = { PROC_STAT, PROC_COMM, PROC_SYSCALL };

static const enum system_file system_files[] = {
	SYSTEM_VERSION,
	SYSTEM_OSRELEASE,
	SYSTEM_MEMINFO,
	SYSTEM_UPTIME,
};

void capture_files_release(struct capture_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		strbuf_release(&files->items[i].bytes);
	}
	free(files->items);
	*files = (struct capture_files)CAPTURE_FILES_INIT;
}

struct capture_file *capture_files_add(struct capture_files *files, const char *path)
{
	struct capture_file *file;

	files->items = xgrow(files->items, &files->capacity, files->count + 1,
			     sizeof(*files->items));
	file = &files->items[files->count++];
	file->path = xstrdup(path);
	strbuf_init(&file->bytes);
	return file;
}

static void drop_files(struct capture_files *files, size_t count)
{
	while (files->count > count) {
		struct capture_file *file = &files->items[--files->count];

		free(file->path);
		strbuf_release(&file->bytes);
	}
}

void capture_add_note(struct strbuf *notes, const char *path, int err)
{
	bool is_absent = err == -ENOENT || err == -EOPNOTSUPP;

	strbuf_addf(notes, "left_out: %s: %s\n", path,
		    is_absent ? "not there" : strerror(-err));
}

/* The state of the capture of one process. */
struct reading {
	const struct procfs *fs;
	const struct process *process;
	/*
	 * Thread whose smaps file is read: the main thread or, if the main thread has
	 * ended, another thread of the process.
	 */
	int memory_pid;
	/* redactor that replaces paths and arguments; NULL to leave them unchanged */
	struct redactor *redactor;
	struct capture_files *files;
	struct strbuf *notes;
};

static int add_text(struct reading *reading, const char *path, const struct strbuf *text,
		    redact_fn redact)
{
	struct capture_file *file = capture_files_add(reading->files, path);

	if (redact && reading->redactor)
		return redact(reading->redactor, strbuf_text(text), text->length,
			      &file->bytes);
	strbuf_add(&file->bytes, strbuf_text(text), text->length);
	return 0;
}

/*
 * Add a file of the process. If the file does not exist, add a note and succeed. Fail if
 * the file cannot be redacted.
 */
static int add_process_file(struct reading *reading, enum proc_file file,
			    redact_fn redact)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[PROCFS_PATH_SIZE];
	int r;

	proc_file_format_path(path, reading->process->pid, file);
	r = proc_file_read(reading->fs,
			   redact == redact_smaps ? reading->memory_pid
						  : reading->process->pid,
			   file, FILE_SIZE_MAX, &text);
	if (r == -ESRCH)
		return r;
	if (r == 0)
		return add_text(reading, path, &text, redact);
	capture_add_note(reading->notes, path, r);
	return 0;
}

/*
 * Add the files of a thread. Missing files are not errors, because the thread may end at
 * any time. Reading a stack pointer requires the permission to trace the process; without
 * it, add a single note for the whole process.
 */
static int add_task(struct reading *reading, int tid, bool *is_noted)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(task_files) / sizeof(task_files[0]) && r == 0;
	     i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		char path[PROCFS_PATH_SIZE];

		proc_file_format_thread_path(path, reading->process->pid, tid,
					     task_files[i]);
		r = procfs_read_path(reading->fs, path, FILE_SIZE_MAX, &text);
		if (r == 0) {
			r = add_text(reading, path, &text, NULL);
			continue;
		}
		if (r != -ENOENT && r != -ESRCH && !*is_noted) {
			capture_add_note(reading->notes, path, r);
			*is_noted = true;
		}
		r = 0;
	}
	return r;
}

static int add_tasks(struct reading *reading)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	bool is_noted = false;
	int fd = proc_file_open(reading->fs, reading->process->pid, PROC_TASK);
	int r = 0;

	if (fd == -EOPNOTSUPP)
		return 0; /* a captured /proc has no task directories */
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir))) {
		int tid;

		if (num_parse_pid(entry->d_name, &tid) == 0)
			r = add_task(reading, tid, &is_noted);
	}
	return r;
}

static int add_small_files(struct reading *reading)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(process_files) / sizeof(process_files[0]) && r == 0;
	     i++) {
		if (!process_has_memory(reading->process) &&
		    process_files[i].redact == redact_smaps)
			continue;
		r = add_process_file(reading, process_files[i].file,
				     process_files[i].redact);
	}
	return r == 0 ? add_tasks(reading) : r;
}

/*
 * Check that the pid still belongs to the same process and that the process runs the same
 * program. The start time changes if the pid is reused, and the open smaps file becomes
 * empty if the process calls execve().
 */
static int check_same(struct reading *reading, int smaps_fd)
{
	struct process now;
	int r;

	r = proc_stat_read(reading->fs, reading->process->pid, &now);
	if (r < 0)
		return r;
	if (!process_is_same(&now, reading->process) || !process_has_memory(&now))
		return -ESRCH;
	return proc_smaps_map_exists(smaps_fd) ? 0 : -ESTALE;
}

static int read_once(struct reading *reading)
{
	_cleanup_strbuf_ struct strbuf smaps = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	char path[PROCFS_PATH_SIZE];
	int r;

	if (!process_has_memory(reading->process))
		return add_small_files(reading);
	fd = proc_file_open(reading->fs, reading->memory_pid, PROC_SMAPS);
	if (fd < 0)
		return fd;
	r = proc_smaps_read_text(fd, reading->fs->is_live, SMAPS_SIZE_MAX, &smaps);
	if (r == 0) {
		proc_file_format_path(path, reading->process->pid, PROC_SMAPS);
		r = add_text(reading, path, &smaps, redact_smaps);
	}
	if (r == 0)
		r = add_small_files(reading);
	return r == 0 ? check_same(reading, fd) : r;
}

int capture_read_process(const struct procfs *fs, const struct process *p,
			 struct redactor *redactor, struct capture_files *files,
			 struct strbuf *notes)
{
	struct reading reading = { fs, p, p->pid, redactor, files, notes };
	size_t count = files->count;
	size_t notes_length = notes->length;
	int r = -ESTALE;

	if (p->state == 'Z' && fs->is_live && process_has_memory(p))
		reading.memory_pid = proc_task_find_alive(fs, p->pid);
	if (reading.memory_pid < 0)
		return reading.memory_pid;
	for (int i = 0; i < READ_TRIES && r == -ESTALE; i++) {
		r = read_once(&reading);
		if (r < 0) {
			drop_files(files, count);
			strbuf_truncate(notes, notes_length);
		}
	}
	return r;
}

/*
 * Add a stat file that contains only the boot time, because the other lines of /proc/stat
 * describe the machine's load.
 */
static void read_boot_time(const struct procfs *fs, struct capture_files *files)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t time_s;

	if (system_file_read(fs, SYSTEM_STAT, FILE_SIZE_MAX, &text) < 0 ||
	    !key_lines_find_u64(strbuf_text(&text), "btime ", &time_s))
		return;
	strbuf_addf(&capture_files_add(files, system_file_path(SYSTEM_STAT))->bytes,
		    "btime %" PRIu64 "\n", time_s);
}

void capture_read_machine(const struct procfs *fs, struct capture_files *files,
			  struct strbuf *notes)
{
	for (size_t i = 0; i < sizeof(system_files) / sizeof(system_files[0]); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		const char *path = system_file_path(system_files[i]);
		int r = system_file_read(fs, system_files[i], FILE_SIZE_MAX, &text);

		if (r < 0)
			capture_add_note(notes, path, r);
		else
			strbuf_add(&capture_files_add(files, path)->bytes,
				   strbuf_text(&text), text.length);
	}
	read_boot_time(fs, files);
}
