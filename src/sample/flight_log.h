/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_log - reports of kills out of what the kernel logs, as it comes: kept from where
 * a report begins until it is whole.
 */
#ifndef MS_SAMPLE_FLIGHT_LOG_H
#define MS_SAMPLE_FLIGHT_LOG_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/oom_kill.h"

struct flight_log {
	bool is_begun;
	struct strbuf report; /* lines of it, so far */
	uint64_t added_ns;    /* when the last line came */
};

void flight_log_release(struct flight_log *log);

/* Return how many kills these records report, of any cgroup. */
uint64_t flight_log_count_kills(const struct strbuf *records);

/* Records as of /dev/kmsg, which are cleared. */
void flight_log_add(struct flight_log *log, struct strbuf *records, uint64_t now_ns);

/*
 * A report that no line was added to for a while, with its text, which is borrowed until
 * more is added. False if there is none yet.
 */
bool flight_log_take(struct flight_log *log, uint64_t now_ns, struct oom_kill_list *ret,
		     const char **ret_text);

/* When flight_log_take() should be tried; UINT64_MAX: not before there is more. */
uint64_t flight_log_due_ns(const struct flight_log *log);

#endif
