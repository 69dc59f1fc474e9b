/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/demangle.h"

#if HAVE_LIBIBERTY

#	include <libiberty/demangle.h>
#	include <setjmp.h>
#	include <string.h>

/*
 * Maximum lengths of mangled and demangled names. A demangled name can be exponentially
 * longer than the mangled one, because parts of a name may be repeated.
 */
#	define NAME_MAX_BYTES 4096
#	define TEXT_MAX_BYTES 16384

struct output {
	struct strbuf *out;
	size_t limit; /* maximum length of the demangled name, in bytes */
	jmp_buf stop;
};

/*
 * The demangler ignores its callback's return value, so longjmp() is the only way to stop
 * it. Nothing leaks, because the demangler allocates no memory.
 */
static void add_part(const char *part, size_t length, void *context)
{
	struct output *output = context;

	if (length > output->limit - output->out->length)
		longjmp(output->stop, 1);
	strbuf_add(output->out, part, length);
}

typedef int (*demangler)(const char *name, int options, demangle_callbackref add,
			 void *context);

static bool demangle_as(demangler demangle, struct strbuf *out, const char *name)
{
	const size_t before = out->length;
	struct output output = { .out = out, .limit = before + TEXT_MAX_BYTES };

	if (!setjmp(output.stop) &&
	    demangle(name, DMGL_PARAMS | DMGL_ANSI, add_part, &output))
		return true;
	strbuf_truncate(out, before);
	return false;
}

/*
 * The Rust demangler is tried first: legacy Rust names are also valid C++ names, but the
 * C++ demangler would append a meaningless hash.
 */
bool demangle_add(struct strbuf *out, const char *name)
{
	if (name[0] != '_' || strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
		return false;
	return demangle_as(rust_demangle_callback, out, name) ||
	       demangle_as(cplus_demangle_v3_callback, out, name);
}

#else

bool demangle_add(struct strbuf *out, const char *name)
{
	(void)out;
	(void)name;
	return false;
}

#endif
