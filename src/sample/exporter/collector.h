/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector - read the figures that the exporter shows, once per round: the memory of all
 * processes by group, the cgroups, and the kills. The result of a round is a snapshot of
 * the figures (struct exporter_look). A round reads the processes that are new or have
 * changed, and some others in turn, within a time limit. Single-threaded.
 */
#ifndef MS_SAMPLE_EXPORTER_COLLECTOR_H
#define MS_SAMPLE_EXPORTER_COLLECTOR_H

#include <regex.h>

#include "classify/exporter/look.h"
#include "proc/system/procfs.h"
#include "sample/process/sampler.h"
#include "sample/recording/recorder.h"

struct collector_setup {
	const struct procfs *fs; /* borrowed */
	struct sampler *sampler; /* borrowed */
	enum grouping grouping;
	const regex_t *patterns; /* patterns of --match; borrowed */
	size_t pattern_count;
	/*
	 * true to read the mappings of the processes in the shown groups, which determine
	 * the owners of their memory
	 */
	bool has_owners;
	/*
	 * Maximum CPU time for reading mappings, and for updating old figures, each in
	 * thousandths of a percent of one CPU; 0 means no limit.
	 */
	uint64_t turns_cpu_share;
	/*
	 * pattern for the command names of the processes whose heaps are read, borrowed;
	 * NULL: read no heaps
	 */
	const regex_t *heap_pattern;
	uint64_t max_pause_ns;
	/*
	 * value of --max-share: maximum share of a process's time that reading it
	 * may take
	 */
	unsigned int max_share_per_mille;
	bool reads_log; /* true to follow the kernel log */
	/* recorder that records a sample in each round; borrowed, or NULL */
	struct recorder *recorder;
};

struct collector;

struct collector *collector_new(const struct collector_setup *setup);
void collector_free(struct collector *c);

/*
 * Run a round. It ends after limit_ns even if some processes have not been read. At most
 * shown_max groups are shown on their own, approximately the `top` largest
 * (classify/exporter/groups.h). Return 0, or -errno if the processes cannot be listed.
 */
int collector_take(struct collector *c, uint64_t limit_ns, size_t top, size_t shown_max);

/*
 * Return the figures of the last round. The caller sets the member `self`, the figures of
 * the exporter itself.
 */
struct exporter_look *collector_look(struct collector *c);

/*
 * Return a descriptor that is readable when the kernel has logged a message, or -errno.
 */
int collector_log_fd(const struct collector *c);

/* Read the kernel log. Return true if it reports a kill. */
bool collector_read_log(struct collector *c);

/* Return the time at which to call collector_read_log() if no message arrives earlier. */
uint64_t collector_log_due_ns(const struct collector *c);

#endif
