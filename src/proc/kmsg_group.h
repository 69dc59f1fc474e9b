/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_group - the group whose limit was met, in the kernel's report of a kill: its usage and
 * memory.stat.
 */
#ifndef MS_PROC_KMSG_GROUP_H
#define MS_PROC_KMSG_GROUP_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

#define KMSG_STAT_KEYS_MAX 48
#define KMSG_STAT_KEY_SIZE 32

struct kmsg_group {
	bool is_in_stat; /* lines of memory.stat follow */
	struct strbuf stat;
	/* Before Linux 5.2 each group below the limit has a line, without those below itself. */
	struct {
		char key[KMSG_STAT_KEY_SIZE];
		uint64_t kb;
	} sums[KMSG_STAT_KEYS_MAX];
	size_t sum_count;
};

void kmsg_group_begin(struct kmsg_group *g);
void kmsg_group_release(struct kmsg_group *g);

/* Return whether the line is one of these; what it says goes to *kill. */
bool kmsg_group_read(struct kmsg_group *g, const char *line, struct oom_kill *kill);

/* Return whether the line is one of memory.stat, which has no word of its own. */
bool kmsg_group_read_stat(struct kmsg_group *g, const char *line);

/* The report is whole: set kill->stat. */
void kmsg_group_end(const struct kmsg_group *g, struct oom_kill *kill);

#endif
