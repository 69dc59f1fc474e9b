/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places - find the group of each process: from its cgroup, or from its command, program
 * or user. The results are kept as long as the process exists, and are checked again from
 * time to time, because a process may be moved to another cgroup.
 */
#ifndef MS_SAMPLE_EXPORTER_PLACES_H
#define MS_SAMPLE_EXPORTER_PLACES_H

#include <regex.h>

#include "classify/exporter/cgroups.h"
#include "classify/exporter/group_name.h"
#include "model/process.h"
#include "proc/cgroup/cgroup.h"
#include "proc/system/procfs.h"

#define PLACES_KEEP_NS (600 * NS_PER_S)

/* A cgroup that has a name: a container, a unit, or any cgroup with processes. */
struct place {
	char *path; /* owned */
	struct group_name name;
	/*
	 * true if the cgroup belongs to "(rest)" or matches no pattern; its files are
	 * then not read
	 */
	bool is_left_out;
	/*
	 * true if the cgroup was found in the first round; events before its first
	 * reading then do not count as an increase
	 */
	bool is_old;
	uint64_t seen_ns; /* time of the last round in which the cgroup had processes */
	/*
	 * has_figures: `figures` contains the figures of the last reading.
	 * is_removed: the cgroup no longer exists.
	 */
	bool has_figures, is_removed;
	struct oom_figures figures;
	/* result of cgroup_reader_id() at the last reading */
	uint64_t id;
	struct cgroup_counts counts; /* the kernel's counts */
	/* increase of the counts since the previous reading */
	struct cgroup_counts increase;
};

/* The cgroup of a process: the cgroup of `place`, or a descendant of that cgroup. */
struct process_cgroup {
	char *path; /* owned */
	struct place *place;
	uint64_t seen_ns;
};

struct place_process; /* cached facts about a process; defined in places.c */

struct places {
	const struct procfs *fs;
	enum grouping grouping;
	/* patterns of --match; a group that matches none belongs to "(rest)"; borrowed */
	const regex_t *patterns;
	size_t pattern_count;
	struct cgroup_mount mount;
	bool has_mount;
	struct place **items; /* sorted by path */
	size_t count, capacity;
	struct process_cgroup **cgroups; /* sorted by path */
	size_t cgroup_count, cgroup_capacity;
	struct place_process *processes; /* sorted by pid */
	size_t process_count, process_capacity;
	struct user_name {
		uint32_t uid;
		char *name;
	} * users;
	size_t user_count, user_capacity;
	uint64_t now_ns; /* time when the round began */
	bool has_looked; /* true after the exporter's first round */
	struct group_name rest, word;
};

/* Initialise *places. fs is borrowed. */
void places_init(struct places *places, const struct procfs *fs, enum grouping grouping);
void places_release(struct places *places);

/* Begin a round. */
void places_begin(struct places *places, uint64_t now_ns);

/*
 * Return the name of the group of a process, borrowed until the next call. *ret_cgroup
 * is the cgroup of the process, or NULL if it is unknown.
 */
const struct group_name *places_find(struct places *places, const struct process *p,
				     const struct process_cgroup **ret_cgroup);

/*
 * End a round: forget the processes that were not looked up in this round, and the
 * cgroups that have had no processes for PLACES_KEEP_NS, unless they still exist. Cgroups
 * are kept that long because the kernel log may name a cgroup after its removal.
 */
void places_end(struct places *places);

/*
 * Set *ret to the name under which a cgroup is exported. The kernel log names the cgroup
 * by its path; the cgroup may have been removed since. The caller releases *ret.
 */
void places_name_path(struct places *places, const char *path, struct group_name *ret);

#endif
