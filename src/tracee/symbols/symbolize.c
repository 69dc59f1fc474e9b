/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/process/file.h"
#include "proc/system/foreign_file.h"
#include "tracee/elf/build_id.h"
#include "tracee/elf/symbols.h"
#include "tracee/memory/open_guard.h"
#include "tracee/symbols/dwarf_frames.h"
#include "tracee/symbols/name.h"

#define LIMIT_NS (60 * NS_PER_S)
#define REAP_NS NS_PER_S

/*
 * Maximum amount of memory that the child process may map for debug information, in
 * addition to memstate's own mappings.
 */
#define ROOM_BYTES ((uint64_t)16384 * MIB)

#define TEXT_MAX 16384 /* Maximum length of a name. Longer names are truncated. */

/* Size of the buffers at both ends of the pipe between memstate and the child process. */
#define CHUNK_BYTES ((size_t)65536)

/*
 * Header of a record that the child process writes. The header is followed by frame_count
 * frames. Each frame is a struct record_frame, followed by its NUL-terminated texts.
 */
struct record {
	uint32_t file, vaddr;
	/* number of frames; 0 in the last record of a file */
	uint32_t frame_count;
};

struct record_frame {
	uint32_t line;
	/* length of each string including its NUL; 0 if the string is unknown */
	uint32_t function_length, file_length;
};

struct task {
	const struct symbolize_file *files;
	size_t count;
	int *fds; /* descriptors of the files; -1 if a file is not available */
	/* whether found() has been called; indexed by file and address */
	bool **is_reported;
	symbolize_found *found;
	void *context;
	/* index of the first file with addresses that have not been looked up */
	size_t next;
	uint64_t end_ns;
};

/* The following functions run in the child process. */

static void write_out(struct strbuf *out, int fd)
{
	if (io_write_all(fd, out->text, out->length) < 0)
		_exit(1);
	strbuf_clear(out);
}

static uint32_t length_of(const char *text)
{
	return text ? (uint32_t)strnlen(text, TEXT_MAX) + 1 : 0;
}

static void add_text(struct strbuf *out, const char *text, uint32_t length)
{
	if (length > 0) {
		strbuf_add(out, text, length - 1);
		strbuf_add_char(out, '\0');
	}
}

static void add_frames(struct strbuf *out, const struct dwarf_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct strbuf *name = &frames[i].function;
		const char *function = name->length > 0 ? name->text : NULL;
		struct record_frame frame = {
			.line = frames[i].line,
			.function_length = length_of(function),
			.file_length = length_of(frames[i].file),
		};

		strbuf_add(out, &frame, sizeof(frame));
		add_text(out, function, frame.function_length);
		add_text(out, frames[i].file, frame.file_length);
	}
}

static void answer_file(const struct task *task, size_t number, struct strbuf *out,
			int fd)
{
	const struct symbolize_file *file = &task->files[number];
	struct dwarf_file *dwarf = dwarf_file_open(task->fds[number], file->path);

	for (size_t i = 0; dwarf && i < file->count; i++) {
		const struct dwarf_frame *frames;
		struct record record = { .file = (uint32_t)number, .vaddr = (uint32_t)i };

		record.frame_count =
			(uint32_t)dwarf_file_find(dwarf, file->vaddrs[i], &frames);
		if (record.frame_count == 0)
			continue;
		strbuf_add(out, &record, sizeof(record));
		add_frames(out, frames, record.frame_count);
		if (out->length > CHUNK_BYTES)
			write_out(out, fd);
	}
	dwarf_file_free(dwarf);
}

/*
 * Isolate the child's signals, memory and output from memstate. The kernel kills the
 * child process when memstate ends.
 */
static void isolate_child(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	struct rlimit none = { 0, 0 }, room;
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], SIG_DFL);
	/* memstate, not Ctrl-C at the terminal, ends the child process */
	signal(SIGINT, SIG_IGN);
	for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null_fd, fd);
	setrlimit(RLIMIT_CORE, &none);
	if (getrlimit(RLIMIT_AS, &room) == 0) {
		_cleanup_strbuf_ struct strbuf statm = STRBUF_INIT;

		if (proc_own_read(PROC_STATM, CHUNK_BYTES, &statm) < 0)
			return;
		room.rlim_cur = strtoull(strbuf_text(&statm), NULL, 10) *
					(uint64_t)sysconf(_SC_PAGESIZE) +
				ROOM_BYTES;
		if (room.rlim_cur < room.rlim_max)
			setrlimit(RLIMIT_AS, &room);
	}
}

static _Noreturn void answer(const struct task *task, int fd)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	isolate_child();
	/* without open_guard, libdw would open any path that a debug file contains */
	if (open_guard_install() < 0)
		_exit(1);
	for (size_t i = task->next; i < task->count; i++) {
		struct record end = { .file = (uint32_t)i };

		if (task->fds[i] >= 0)
			answer_file(task, i, &out, fd);
		strbuf_add(&out, &end, sizeof(end));
		write_out(&out, fd);
	}
	_exit(0);
}

/*
 * The following functions run in memstate itself. They validate all data from the child
 * process.
 */

/* Return the next `length` bytes and advance *at. Return NULL if fewer bytes remain. */
static const char *take(const char **at, const char *end, size_t length)
{
	const char *from = *at;

	if (length > (size_t)(end - from))
		return NULL;
	*at += length;
	return from;
}

/* Read a string. Return false if the string is incomplete or too long. */
static bool read_text(const char **at, const char *end, uint32_t length, const char **ret)
{
	const char *text = take(at, end, length);

	*ret = length > 0 ? text : NULL;
	return text && length <= TEXT_MAX + 1 &&
	       (length == 0 || text[length - 1] == '\0');
}

static bool read_frame(const char **at, const char *end, struct code_frame *ret)
{
	struct record_frame frame;
	const char *bytes = take(at, end, sizeof(frame));

	if (!bytes)
		return false;
	memcpy(&frame, bytes, sizeof(frame));
	ret->line = frame.line;
	return read_text(at, end, frame.function_length, &ret->function) &&
	       read_text(at, end, frame.file_length, &ret->file);
}

static void report_frames(struct task *task, size_t file, size_t vaddr,
			  const struct code_frame *frames, size_t count)
{
	if (task->is_reported[file][vaddr])
		return;
	task->is_reported[file][vaddr] = true;
	task->found(task->context, file, vaddr, frames, count);
}

/* Read one record. Return false if there is no complete and valid record. */
static bool read_record(struct task *task, const char **at, const char *end)
{
	struct code_frame frames[DWARF_FRAMES_MAX];
	const char *from = *at, *bytes = take(&from, end, sizeof(struct record));
	struct record record;

	if (!bytes)
		return false;
	memcpy(&record, bytes, sizeof(record));
	if (record.file >= task->count || record.file < task->next ||
	    record.frame_count > DWARF_FRAMES_MAX ||
	    (record.frame_count > 0 && record.vaddr >= task->files[record.file].count))
		return false;
	for (size_t i = 0; i < record.frame_count; i++)
		if (!read_frame(&from, end, &frames[i]))
			return false;
	*at = from;
	if (record.frame_count > 0)
		report_frames(task, record.file, record.vaddr, frames,
			      record.frame_count);
	else
		task->next = record.file + 1;
	return true;
}

/* Read all complete records from *in, and leave the remaining bytes there. */
static void read_records(struct task *task, struct strbuf *in)
{
	const char *at = strbuf_text(in), *end = at + in->length;
	_cleanup_free_ char *rest = NULL;
	size_t length;

	while (read_record(task, &at, end))
		;
	length = (size_t)(end - at);
	rest = xmalloc(length + 1);
	memcpy(rest, at, length);
	strbuf_clear(in);
	strbuf_add(in, rest, length);
}

/*
 * Return the deadline for the next file. A file gets at most half of the remaining time,
 * so that some time remains for the other files.
 */
static uint64_t file_end_ns(const struct task *task)
{
	uint64_t now_ns = clock_now_ns();

	return now_ns < task->end_ns ? now_ns + (task->end_ns - now_ns) / 2 : now_ns;
}

/* Return true if the buffer has more bytes than any valid record. */
static bool is_too_long(const struct strbuf *in)
{
	return in->length > DWARF_FRAMES_MAX * 3 * (size_t)TEXT_MAX;
}

/*
 * Read records from the child process until it has ended, its time has expired, or its
 * data is invalid.
 */
static void listen(struct task *task, int fd)
{
	_cleanup_strbuf_ struct strbuf in = STRBUF_INIT;
	_cleanup_free_ char *chunk = xmalloc(CHUNK_BYTES);
	uint64_t end_ns = file_end_ns(task);
	size_t current = task->next;

	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t now_ns = clock_now_ns();
		ssize_t got;

		if (task->next != current)
			end_ns = file_end_ns(task);
		current = task->next;
		if (now_ns >= end_ns || is_too_long(&in))
			return;
		if (poll(&wait, 1, (int)((end_ns - now_ns) / NS_PER_MS) + 1) <= 0)
			continue;
		got = read(fd, chunk, CHUNK_BYTES);
		if (got == 0 || (got < 0 && errno != EINTR))
			return;
		if (got > 0) {
			strbuf_add(&in, chunk, (size_t)got);
			read_records(task, &in);
		}
	}
}

/*
 * Reap the child process, and give up after REAP_NS: if a file system does not answer,
 * the child may stay alive even after SIGKILL.
 */
static void reap(pid_t pid)
{
	uint64_t end_ns = clock_now_ns() + REAP_NS;

	while (waitpid(pid, NULL, WNOHANG) == 0 && clock_now_ns() < end_ns)
		poll(NULL, 0, 1);
}

/*
 * Start a child process that resolves the addresses of all files from task->next on.
 * Return 0 or -errno.
 */
static int ask_child(struct task *task)
{
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		answer(task, pipe_fds[1]);
	close(pipe_fds[1]);
	if (pid > 0) {
		listen(task, pipe_fds[0]);
		/* the child process may still be running if its time has expired */
		kill(pid, SIGKILL);
		reap(pid);
	}
	close(pipe_fds[0]);
	return pid < 0 ? -EAGAIN : 0;
}

/*
 * Open the file at path. A relative path is resolved from memstate's working directory,
 * which the program usually shared.
 */
static int open_path(const char *path)
{
	_cleanup_strbuf_ struct strbuf absolute = STRBUF_INIT;
	_cleanup_free_ char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);

	strbuf_addf(&absolute, "%s/%s", cwd ? cwd : "", path);
	return foreign_file_open(FOREIGN_OWN_ROOT, strbuf_text(&absolute),
				 FOREIGN_ELF_BYTES_MAX);
}

/*
 * Open the file that the program had mapped, if its build ID still matches, otherwise its
 * debug file. Return -1 if neither is available.
 */
static int open_file(const struct symbolize_file *file)
{
	struct elf_build_id wanted = { .length = file->build_id_bytes }, found;
	int fd = open_path(file->path);

	if (wanted.length > sizeof(wanted.bytes))
		wanted.length = 0;
	memcpy(wanted.bytes, file->build_id, wanted.length);
	if (fd >= 0 && elf_build_id_read(fd, &found) == 0 &&
	    elf_build_id_is_same(&found, &wanted))
		return fd;
	if (fd >= 0)
		close(fd);
	fd = elf_debug_open(-1, &wanted);
	return fd < 0 ? -1 : fd;
}

/*
 * Look up in the symbol table those addresses that the debug information did not resolve.
 */
static void ask_symbols(struct task *task, size_t number)
{
	const struct symbolize_file *file = &task->files[number];
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct elf_symbols symbols = ELF_SYMBOLS_INIT;
	size_t i = 0;

	while (i < file->count && task->is_reported[number][i])
		i++;
	if (i == file->count ||
	    elf_symbols_read(dup(task->fds[number]), -1, &symbols) < 0)
		return;
	for (; i < file->count; i++) {
		const struct elf_symbol *symbol =
			elf_symbols_find(&symbols, file->vaddrs[i]);

		if (!symbol || symbol->is_object)
			continue;
		strbuf_clear(&name);
		symbol_name_add(&name, symbol->name);
		if (name.length == 0)
			continue;
		report_frames(task, number, i,
			      &(struct code_frame){ .function = strbuf_text(&name) }, 1);
	}
	elf_symbols_release(&symbols);
}

void symbolize(const struct symbolize_file *files, size_t count, symbolize_found *found,
	       void *context)
{
	struct task task = {
		.files = files,
		.count = count,
		.fds = xcalloc(count + 1, sizeof(*task.fds)),
		.is_reported = xcalloc(count + 1, sizeof(*task.is_reported)),
		.found = found,
		.context = context,
		.end_ns = clock_now_ns() + LIMIT_NS,
	};

	for (size_t i = 0; i < count; i++) {
		task.fds[i] = files[i].count > 0 ? open_file(&files[i]) : -1;
		task.is_reported[i] =
			xcalloc(files[i].count + 1, sizeof(**task.is_reported));
	}
	while (task.next < count && clock_now_ns() < task.end_ns && HAVE_LIBDW &&
	       ask_child(&task) == 0)
		/*
		 * skip the file that the child process was resolving when it crashed or
		 * was killed
		 */
		task.next += task.next < count;
	for (size_t i = 0; i < count; i++) {
		if (task.fds[i] >= 0) {
			ask_symbols(&task, i);
			close(task.fds[i]);
		}
		free(task.is_reported[i]);
	}
	free(task.is_reported);
	free(task.fds);
}
