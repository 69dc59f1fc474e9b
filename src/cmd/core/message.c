/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/strbuf.h"
#include "base/text.h"

/*
 * Print a message. Escape unprintable characters, because names and paths are untrusted.
 */
__attribute__((format(printf, 1, 0))) static void print_message(const char *format,
								va_list args)
{
	_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	strbuf_vaddf(&raw, format, args);
	strbuf_add_text(&line, "memstate: ");
	text_add_printable(&line, strbuf_text(&raw), raw.length, false);
	strbuf_add_char(&line, '\n');
	(void)io_write_all(STDERR_FILENO, line.text, line.length);
}

void message(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(format, args);
	va_end(args);
}

static const char *describe(int err)
{
	switch (err) {
	case -ESRCH: return "no such process";
	case -EBADMSG: return "not in the expected format";
	case -ESTALE: return "changed during every attempt to read it";
	case -EOPNOTSUPP:
		return "not available (the kernel is too old, or the capture "
		       "lacks it)";
	default: return strerror(-err);
	}
}

void message_error(const char *subject, int err)
{
	message("%s: %s", subject, describe(err));
}

static const char *describe_process_error(int err)
{
	switch (err) {
	case -EBADMSG: return "the stat or smaps file is not in the expected format";
	case -EOPNOTSUPP:
		return "no smaps file (the kernel does not provide it, or the capture "
		       "lacks it)";
	default: return describe(err);
	}
}

void message_process_error(int pid, int err)
{
	message("%d: %s", pid, describe_process_error(err));
}

void message_usage(const char *verb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(format, args);
	va_end(args);
	fprintf(stderr, "Try 'memstate %s%s--help'.\n", verb ? verb : "",
		verb ? " " : "");
}
