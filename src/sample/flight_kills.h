/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_kills - the processes that the kernel killed while they were recorded, each once,
 * though it is heard of by several ways.
 */
#ifndef MS_SAMPLE_FLIGHT_KILLS_H
#define MS_SAMPLE_FLIGHT_KILLS_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/cgroup.h"
#include "model/oom_kill.h"
#include "model/usage.h"

struct flight_kill {
	int pid;	/* 0: it is not known which */
	bool is_logged; /* the kernel's report was recorded */
	char comm[PROCESS_COMM_SIZE];
	uint64_t unix_ms;
	uint64_t rss_bytes; /* as it was read last; may be unknown */
	uint64_t
		sample_age_ns; /* how old the last sample was then; unknown if the log was late */
	uint64_t
		late_ns; /* how long after it was chosen its memory had been read; unknown: it was gone */
};

#define FLIGHT_KILLS_MAX 64

struct flight_kills {
	struct flight_kill
		items[FLIGHT_KILLS_MAX]; /* the last ones: kill n is item n % …MAX */
	uint64_t count;			 /* all of them */
};

/* The same process at about that time, or NULL. */
struct flight_kill *flight_kills_find(struct flight_kills *kills, int pid,
				      uint64_t unix_ms);

/* Any at about that time, or later. */
bool flight_kills_has_since(const struct flight_kills *kills, uint64_t unix_ms);

/*
 * Is what the kernel's log has one of this group, or of those that share its limit? Of many
 * kills in a short time the kernel logs no more than who was killed, without a group: then it
 * is if it is among these already, at about that time.
 */
bool flight_kills_has_logged(struct flight_kills *kills, const struct oom_kill *k,
			     const struct cgroup *cgroup, uint64_t unix_ms);

/* u: what is known of it, or NULL. Borrowed until as many others are added as there is room for. */
struct flight_kill *flight_kills_add(struct flight_kills *kills, int pid,
				     uint64_t unix_ms, const struct usage *u);

/* What is to be said of one that the kernel chose; error: why it could not be read then, or 0. */
void flight_kill_describe(const struct flight_kill *kill, int error, struct strbuf *out);

#endif
