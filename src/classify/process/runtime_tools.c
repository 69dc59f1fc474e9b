/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/runtime_tools.h"

#include <string.h>

#include "model/known_names.h"

/*
 * Language runtimes, and the files that contain their code. Python is last, because
 * other programs such as gdb embed Python in addition to their own heap. A '*' at the
 * end of a file name matches any suffix; other names match a suffix of digits and dots,
 * as in python3.11.
 */
static const struct runtime_tool {
	const char *files[4]; /* ends with NULL */
	/* text of the sentence, in which "PID" stands for the process ID */
	const char *sentence;
} tools[] = {
	{ { "libjvm.so*" },
	  "The process contains a Java virtual machine: 'jcmd PID GC.heap_info' shows its "
	  "heap, and 'jcmd PID VM.native_memory' the rest, if it was started with "
	  "-XX:NativeMemoryTracking=summary." },
	{ { "libcoreclr.so*" },
	  "The process contains a .NET runtime: 'dotnet-counters monitor -p PID' shows the "
	  "size of its heap, and 'dotnet-gcdump collect -p PID' saves its objects." },
	{ { "node", "nodejs", "libnode.so*" },
	  "The process contains Node.js: process.memoryUsage() in the program shows the "
	  "size of its heap, and 'node --inspect' allows a heap snapshot." },
	{ { "ruby", "libruby.so*", "libruby-*" },
	  "The process contains Ruby: ObjectSpace.memsize_of_all, after require 'objspace', "
	  "returns the size of its objects." },
	{ { "php", "php-fpm", "libphp*" },
	  "The process contains PHP: memory_get_usage(true) in the script returns how much "
	  "PHP obtained from the kernel." },
	{ { "python", "libpython*" },
	  "The process contains Python: if it is started with -X tracemalloc, the module "
	  "tracemalloc shows where its objects were allocated." },
};

static const char go_sentence[] =
	"Its heap is that of Go: with GODEBUG=gctrace=1 in its "
	"environment, it prints the size at each collection, and "
	"net/http/pprof serves a heap profile.";

static const char erlang_sentence[] =
	"The process contains Erlang's virtual machine (BEAM): up to all of this memory belongs "
	"to its allocators, which memstate cannot read. erlang:memory() in its shell shows "
	"what they have allocated, and recon_alloc:memory(usage) the share of it in use.";

/* Return true if the last component of the path matches the name of a runtime's file. */
static bool is_file(const char *path, const char *pattern)
{
	const char *slash = strrchr(path, '/');
	size_t length = strlen(pattern);
	bool is_prefix = pattern[length - 1] == '*';
	const char *rest;

	if (!slash || strncmp(slash + 1, pattern, is_prefix ? length - 1 : length) != 0)
		return false;
	rest = slash + 1 + length;
	return is_prefix || rest[strspn(rest, "0123456789.")] == '\0' ||
	       strcmp(rest + strspn(rest, "0123456789."), " (deleted)") == 0;
}

static bool has_code(const struct mapping_list *mappings, const struct runtime_tool *tool)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *m = &mappings->items[i];

		if (!(m->flags & MAPPING_EXEC) || m->inode == 0)
			continue;
		for (size_t f = 0; tool->files[f]; f++)
			if (is_file(m->name, tool->files[f]))
				return true;
	}
	return false;
}

static bool has_code_of_erlang(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (is_code_of_erlang(&mappings->items[i]))
			return true;
	return false;
}

/* Append a sentence, replacing "PID" with the process ID. */
static void add_with_pid(struct strbuf *out, const char *sentence, int pid)
{
	const char *at;

	for (; (at = strstr(sentence, "PID")); sentence = at + strlen("PID")) {
		strbuf_add(out, sentence, (size_t)(at - sentence));
		strbuf_addf(out, "%d", pid);
	}
	strbuf_add_text(out, sentence);
}

bool runtime_tools_add(struct strbuf *out, const struct usage *u,
		       const struct mapping_list *mappings)
{
	if (u->allocator == ALLOCATOR_GO) {
		strbuf_add_text(out, go_sentence);
		return true;
	}
	if (has_code_of_erlang(mappings)) {
		strbuf_add_text(out, erlang_sentence);
		return true;
	}
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (!has_code(mappings, &tools[i]))
			continue;
		add_with_pid(out, tools[i].sentence, u->process.pid);
		return true;
	}
	return false;
}
