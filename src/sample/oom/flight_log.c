/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/oom/flight_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "proc/kmsg/oom.h"
#include "proc/kmsg/split.h"
#include "proc/kmsg/victim.h"

/*
 * Time without a new line after which a report is complete. The kernel logs all lines of
 * a report together, except on a slow console.
 */
#define QUIET_NS (200 * NS_PER_MS)
#define REPORT_BYTES_MAX ((size_t)256 << 10)

/* Strings that identify the possible first lines of a kernel report. */
static const char *const report_starts[] = {
	"invoked oom-killer", "oom-kill:constraint=",	     "Killed process",
	"Kill process",	      "killed as a result of limit",
};

void flight_log_release(struct flight_log *log)
{
	strbuf_release(&log->report);
	log->is_begun = false;
}

static const char *find_beginning(const char *text)
{
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(report_starts) / sizeof(report_starts[0]); i++) {
		const char *at = strstr(text, report_starts[i]);

		if (at && (!first || at < first))
			first = at;
	}
	while (first && first > text && first[-1] != '\n')
		first--;
	return first;
}

/* Return true if a record of /dev/kmsg is the kernel's message about a killed process. */
static bool is_kill(char *record)
{
	char *text = strchr(record, ';');
	struct kmsg_victim victim;

	/*
	 * programs can also write to the kernel log, so ignore records whose facility is
	 * not 0 (kernel)
	 */
	if (!text || strtoul(record, NULL, 10) >= 8)
		return false;
	kmsg_split_cut_fault(++text);
	return kmsg_victim_read(text, &victim) == KMSG_KILLED;
}

uint64_t flight_log_count_kills(const struct strbuf *records)
{
	_cleanup_free_ char *copy = xstrdup(strbuf_text(records));
	char *rest = copy, *record;
	uint64_t count = 0;

	while ((record = strsep(&rest, "\n")))
		if (record[0] != ' ' && is_kill(record))
			count++;
	return count;
}

void flight_log_add(struct flight_log *log, struct strbuf *records, uint64_t now_ns)
{
	const char *from = strbuf_text(records);

	if (!log->is_begun)
		from = find_beginning(from);
	if (from && from[0] && log->report.length < REPORT_BYTES_MAX) {
		if (!log->is_begun)
			strbuf_clear(&log->report);
		strbuf_add_text(&log->report, from);
		log->is_begun = true;
		log->added_ns = now_ns;
	}
	strbuf_clear(records);
}

uint64_t flight_log_due_ns(const struct flight_log *log)
{
	return log->is_begun ? log->added_ns + QUIET_NS : UINT64_MAX;
}

const char *flight_log_report(const char *text, const struct oom_kill *kill,
			      struct strbuf *out)
{
	strbuf_clear(out);
	strbuf_add(out, text + kill->text_begin,
		   (size_t)(kill->text_end - kill->text_begin));
	return strbuf_text(out);
}

bool flight_log_next(struct flight_log *log, uint64_t now_ns, struct oom_kill_list *ret,
		     const char **ret_text)
{
	if (!log->is_begun ||
	    (now_ns < flight_log_due_ns(log) && log->report.length < REPORT_BYTES_MAX))
		return false;
	kmsg_oom_parse(log->report.text, log->report.length, ret);
	log->is_begun = false;
	*ret_text = log->report.text;
	return true;
}
