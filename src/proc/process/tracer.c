/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/tracer.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/key_lines.h"
#include "base/strbuf.h"
#include "base/text.h"

#define STATUS_BYTES_MAX 16384

static bool read_number(const struct procfs *fs, int pid, const char *key, int *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t number;

	if (procfs_read_file(fs, pid, "status", STATUS_BYTES_MAX, &text) < 0 ||
	    !key_lines_find_u64(strbuf_text(&text), key, &number) || number == 0 ||
	    number > INT_MAX)
		return false;
	*ret = (int)number;
	return true;
}

static bool read_name(const struct procfs *fs, int pid, char name[TRACER_NAME_SIZE])
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (procfs_read_file(fs, pid, "comm", TRACER_NAME_SIZE, &text) < 0 ||
	    text.length < 2)
		return false;
	text_copy(name, TRACER_NAME_SIZE, strbuf_text(&text));
	name[strlen(name) - 1] = '\0'; /* remove the newline after the name */
	return true;
}

bool proc_tracer_find(const struct procfs *fs, int pid, struct tracer_process *ret)
{
	struct tracer_process tracer;
	int tid;

	/*
	 * TracerPid is the tid of the tracing thread; the Tgid of this thread is the pid
	 * of its process
	 */
	if (!read_number(fs, pid, "TracerPid:", &tid) ||
	    !read_number(fs, tid, "Tgid:", &tracer.pid) ||
	    !read_name(fs, tracer.pid, tracer.name))
		return false;
	*ret = tracer;
	return true;
}

bool proc_tracer_is_memstate(const struct procfs *fs, const struct tracer_process *tracer)
{
	char own[TRACER_NAME_SIZE];

	return tracer->pid != getpid() && read_name(fs, getpid(), own) &&
	       strcmp(own, tracer->name) == 0;
}
