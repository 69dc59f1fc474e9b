/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_log - collect reports of kills from the kernel log as it arrives, from the first
 * line of a report until it is complete.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_LOG_H
#define MS_SAMPLE_OOM_FLIGHT_LOG_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/oom_kill.h"

struct flight_log {
	bool is_begun;
	struct strbuf report; /* its lines so far */
	uint64_t added_ns;    /* when the last line arrived */
};

void flight_log_release(struct flight_log *log);

/* Return how many kills these records report, in any cgroup. */
uint64_t flight_log_count_kills(const struct strbuf *records);

/* Add records in the format of /dev/kmsg, and clear them. */
void flight_log_add(struct flight_log *log, struct strbuf *records, uint64_t now_ns);

/*
 * Return a report that has received no line for a while, and its text, which is borrowed
 * until more is added. Returns false if there is none yet.
 */
bool flight_log_take(struct flight_log *log, uint64_t now_ns, struct oom_kill_list *ret,
		     const char **ret_text);

/*
 * Copy the lines of one kill's report from the text that flight_log_take() returned with it.
 * Returns the text of *out.
 */
const char *flight_log_report(const char *text, const struct oom_kill *kill,
			      struct strbuf *out);

/*
 * Return when to call flight_log_take() next; UINT64_MAX: not until more
 * lines were added.
 */
uint64_t flight_log_due_ns(const struct flight_log *log);

#endif
