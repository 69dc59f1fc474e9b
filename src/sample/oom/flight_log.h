/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_log - collect the reports of OOM kills from the kernel log as they arrive, from
 * the first line of each report until the report is complete.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_LOG_H
#define MS_SAMPLE_OOM_FLIGHT_LOG_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/oom_kill.h"

struct flight_log {
	bool is_begun;
	struct strbuf report; /* lines of the current report so far */
	uint64_t added_ns;    /* time when the last line of the log arrived */
};

void flight_log_release(struct flight_log *log);

/* Return the number of kills, in any cgroup, that the given log records report. */
uint64_t flight_log_count_kills(const struct strbuf *records);

/* Add log records in the format of /dev/kmsg, and clear the caller's buffer. */
void flight_log_add(struct flight_log *log, struct strbuf *records, uint64_t now_ns);

/*
 * Store the kills of the next complete report in *ret, and its text in *ret_text, which
 * is borrowed until more records are added. A report is complete if no line was added to
 * it for a while. Return false if there is no complete report.
 */
bool flight_log_next(struct flight_log *log, uint64_t now_ns, struct oom_kill_list *ret,
		     const char **ret_text);

/*
 * Copy the lines about one kill to *out. `kill` and its text are results of
 * flight_log_next(). Return the text of *out.
 */
const char *flight_log_report(const char *text, const struct oom_kill *kill,
			      struct strbuf *out);

/*
 * Return the time at which to call flight_log_next() again, or UINT64_MAX if there is
 * nothing to do before more records are added.
 */
uint64_t flight_log_due_ns(const struct flight_log *log);

#endif
