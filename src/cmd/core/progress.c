/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/strbuf.h"
#include "base/units.h"

/* Move to the start of the line, and erase it (ECMA-48). */
#define ERASE_LINE "\r\033[K"

void progress_begin(struct progress *p, const char *what)
{
	const char *term = getenv("TERM");

	*p = (struct progress){
		.what = what,
		.due_ns = clock_now_ns() + PROGRESS_DELAY_NS,
		.is_terminal = term && strcmp(term, "dumb") != 0 && isatty(STDERR_FILENO),
	};
}

bool progress_report(void *progress, uint64_t done_bytes, uint64_t total_bytes)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	char done[UNITS_TEXT_SIZE], total[UNITS_TEXT_SIZE];
	struct progress *p = progress;
	uint64_t now_ns;

	if (!p->is_terminal)
		return false;
	now_ns = clock_now_ns();
	if (now_ns < p->due_ns)
		return false;
	p->due_ns = now_ns + PROGRESS_INTERVAL_NS;
	p->is_shown = true;
	strbuf_addf(&line, ERASE_LINE "memstate: %s: %s of %s", p->what,
		    units_format_bytes(done_bytes, done),
		    units_format_bytes(total_bytes, total));
	(void)io_write_all(STDERR_FILENO, line.text, line.length);
	return false;
}

void progress_end(struct progress *p)
{
	if (p->is_shown)
		(void)io_write_all(STDERR_FILENO, ERASE_LINE, sizeof(ERASE_LINE) - 1);
	p->is_shown = false;
}
