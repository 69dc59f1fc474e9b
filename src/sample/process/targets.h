/* SPDX-License-Identifier: GPL-2.0-or-later */
/* targets - find the processes that the user selected, and detect reused pids. */
#ifndef MS_SAMPLE_PROCESS_TARGETS_H
#define MS_SAMPLE_PROCESS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/usage.h"
#include "proc/system/procfs.h"
#include "sample/process/name_cache.h"

struct group_processes;

/* A selection of processes. Without a pid, name or cgroup, all processes are selected. */
struct targets {
	struct target_pid {
		int pid;
		/*
		 * start time of the process, for detecting a reused pid, or 0 if it has
		 * not been read yet
		 */
		uint64_t start_ticks;
		/*
		 * true if the process had memory when it was last listed; if it has no
		 * memory in a later listing, it has ended
		 */
		bool had_memory;
		bool is_gone;
	} * pids;
	size_t pid_count;
	const char **names; /* names or wildcards; borrowed */
	size_t name_count;
	/*
	 * for each name, true if the last listing contained it; NULL before
	 * the first listing
	 */
	bool *names_found;
	/* number of processes in the last listing whose command line was not read */
	size_t unread_count;
	/* cache of process names, owned; NULL until names are looked up */
	struct name_cache *name_cache;
	/* cgroup whose processes are selected, borrowed, or NULL */
	struct group_processes *group;
	bool with_children; /* true to also select all descendants */
};

static inline bool targets_are_all(const struct targets *t)
{
	return t->pid_count == 0 && t->name_count == 0 && !t->group;
}

/*
 * Return true if the sample is empty, and all later samples will be empty too. Until an
 * empty cgroup is removed, processes may join it again.
 */
bool targets_have_ended(const struct targets *targets, const struct snapshot *sample);

/*
 * List the existing targets as usages in which only the process is set. If the process
 * with a requested pid has ended, set is_gone for this pid, and increment
 * ret->gone_count. Return 0 or -errno.
 */
int targets_list(const struct procfs *fs, struct targets *targets, struct snapshot *ret);

struct name_patterns {
	const char *const *items; /* names or wildcards, as in process_name.h */
	size_t count;
	/* for each pattern, set to true if it matches a process; NULL if not needed */
	bool *found;
	/*
	 * incremented for each process in state D with an unknown command line; NULL
	 * if not needed
	 */
	size_t *unread_count;
};

/*
 * Return true if one of the patterns matches a name of the process: its comm, or a name
 * in its command line. Read the command line only if comm does not match all patterns.
 */
bool targets_are_named(const struct procfs *fs, struct name_cache *cache,
		       const struct name_patterns *patterns, const struct process *p);

/*
 * Return true if a recorded process matches a target: by its pid, by its comm, or by a
 * name in its command line. `line` is the command line with its arguments separated by
 * blanks, or NULL.
 */
bool targets_contain(const struct targets *targets, const struct process *p,
		     const char *line);

/*
 * Append the names of all processes, each followed by NUL, and return the number of
 * processes. The names may be empty, or occur several times. cache may be NULL.
 */
size_t targets_list_names(const struct procfs *fs, struct name_cache *cache,
			  struct strbuf *out);

/* List every process. The flags are those of proc_list_read(). */
int targets_list_all(const struct procfs *fs, unsigned int flags, struct snapshot *ret);

#endif
