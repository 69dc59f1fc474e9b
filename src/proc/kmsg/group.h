/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group - parse the part of a kernel OOM report that describes the cgroup whose limit was
 * reached: its usage and its memory.stat.
 */
#ifndef MS_PROC_KMSG_GROUP_H
#define MS_PROC_KMSG_GROUP_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

#define KMSG_STAT_KEYS_MAX 48
#define KMSG_STAT_KEY_SIZE 32

struct kmsg_group {
	bool is_in_stat; /* true if the next lines may belong to memory.stat */
	struct strbuf stat;
	/*
	 * Sums over the cgroups in the report, in kB. Before Linux 5.2 the
	 * report has one line for each cgroup in the hierarchy, and each line
	 * excludes the cgroup's children.
	 */
	struct {
		char key[KMSG_STAT_KEY_SIZE];
		uint64_t kb;
	} sums[KMSG_STAT_KEYS_MAX];
	size_t sum_count;
};

void kmsg_group_begin(struct kmsg_group *g);
void kmsg_group_release(struct kmsg_group *g);

/*
 * Parse a line about the cgroup, and store its values in *kill. Return false for other
 * lines.
 */
bool kmsg_group_read(struct kmsg_group *g, const char *line, struct oom_kill *kill);

/*
 * Add the value of a memory.stat line, "KEY NUMBER", to the sums. Return false if the
 * line is not part of memory.stat.
 */
bool kmsg_group_read_stat(struct kmsg_group *g, const char *line);

/* Finish the report: compute kill->version and kill->stat from the parsed lines. */
void kmsg_group_end(const struct kmsg_group *g, struct oom_kill *kill);

#endif
