/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conclusion - the sentences that open a text report, and the command to run next. Plain
 * data.
 */
#ifndef MS_MODEL_CONCLUSION_H
#define MS_MODEL_CONCLUSION_H

#include <stdbool.h>

#include "base/strbuf.h"

/* How the suggested next command can access the processes of a report. */
struct next_place {
	/* true if the processes may still be running, so their memory can be read */
	bool is_live;
	/* true if the processes are in a copy of /proc, which `options` selects */
	bool is_capture;
	/*
	 * command-line options, such as " --procfs DIR", with a space before each
	 * option; may be ""
	 */
	const char *options;
};

struct conclusion {
	struct strbuf text; /* one or two printable sentences without a line break */
	/* a complete and printable shell command; empty if no command is suggested */
	struct strbuf next;
};

#define CONCLUSION_INIT                  \
	{                                \
		STRBUF_INIT, STRBUF_INIT \
	}
#define _cleanup_conclusion_ __attribute__((cleanup(conclusion_release)))

void conclusion_release(struct conclusion *c);

/* Append a sentence, with its full stop, to the text. */
void conclusion_add(struct conclusion *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Set the command to run next, replacing an earlier one. Use text_add_shell_word() to add
 * names and paths, which may contain any characters.
 */
void conclusion_set_next(struct conclusion *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
