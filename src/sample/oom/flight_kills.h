/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_kills - list the processes that the kernel killed while they were recorded. Each
 * kill is listed once, even if several sources report it.
 */
#ifndef MS_SAMPLE_OOM_FLIGHT_KILLS_H
#define MS_SAMPLE_OOM_FLIGHT_KILLS_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "model/cgroup.h"
#include "model/oom_kill.h"
#include "model/usage.h"

struct flight_kill {
	int pid;	/* pid of the victim, or 0 if unknown */
	bool is_logged; /* true if the kernel's report about the kill was recorded */
	char comm[PROCESS_COMM_SIZE];
	uint64_t unix_ms;
	uint64_t rss_bytes; /* Rss when the victim was last read; may be unknown */
	/* time from the last sample to the kill; unknown if the kernel log was late */
	uint64_t sample_age_ns;
	/*
	 * time from the selection of the victim until its memory was read; unknown if it
	 * could not be read in time
	 */
	uint64_t late_ns;
};

#define FLIGHT_KILLS_MAX 64

struct flight_kills {
	/* the most recent kills; kill n is stored in items[n % FLIGHT_KILLS_MAX] */
	struct flight_kill items[FLIGHT_KILLS_MAX];
	uint64_t count; /* number of all kills */
};

/* Return the kill of the process with the given pid at about the given time, or NULL. */
struct flight_kill *flight_kills_find(struct flight_kills *kills, int pid,
				      uint64_t unix_ms);

/* Return true if a kill happened at about the given time or later. */
bool flight_kills_any_since(const struct flight_kills *kills, uint64_t unix_ms);

/*
 * Return true if a kill in the kernel log concerns the given cgroup or one that
 * shares its limit. A rate-limited report contains only the victim, without a cgroup;
 * such a kill counts if another source reports a kill of the same process at about
 * the same time.
 */
bool flight_kills_has_logged(struct flight_kills *kills, const struct oom_kill *k,
			     const struct cgroup *cgroup, uint64_t unix_ms);

/*
 * Add a kill. u contains the known figures of the process, or is NULL. The returned
 * pointer is valid until FLIGHT_KILLS_MAX more kills have been added.
 */
struct flight_kill *flight_kills_add(struct flight_kills *kills, int pid,
				     uint64_t unix_ms, const struct usage *u);

/*
 * Append a description of the kill to *out: the Rss of the victim and how recent it is.
 * error is 0, or the negative errno value if the victim could not be read in time.
 */
void flight_kill_describe(const struct flight_kill *kill, int error, struct strbuf *out);

#endif
