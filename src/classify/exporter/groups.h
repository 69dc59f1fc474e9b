/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * groups - the memory of all processes, summed up by group. The functions are pure.
 *
 * The largest groups are shown individually, and all other groups as one sum. The total
 * over all groups therefore does not depend on how many are shown. A group is shown once
 * it has been among the `top` largest in GROUPS_LOOKS_MIN successive snapshots. It is
 * hidden again once it has not been among the 2 * top largest for GROUPS_REST_NS.
 */
#ifndef MS_CLASSIFY_EXPORTER_GROUPS_H
#define MS_CLASSIFY_EXPORTER_GROUPS_H

#include "classify/exporter/group_name.h"
#include "model/usage.h"

#define GROUPS_LOOKS_MIN 3
#define GROUPS_REST_NS (600 * NS_PER_S)

/* The figures of a process that are known after reading its mappings or its heap. */
struct owner_figures {
	uint64_t taken_ns;
	uint64_t bytes[OWNER_COUNT_]; /* resident memory by owner (heap, stacks, …) */
	uint64_t unbacked_bytes, reserved_bytes, trimmable_bytes;
	bool has_heap; /* true if the heap was read */
};

/*
 * Copy the memory by owner from a process's usage to *ret. The usage must have been read
 * from /proc/PID/smaps (SOURCE_SMAPS).
 */
void owner_figures_of(const struct usage *u, struct owner_figures *ret);

struct group_sums {
	uint64_t rss_bytes;
	uint64_t state_bytes[STATE_COUNT_];
	/* sums over processes whose memory has been divided by owner (heap, stacks, …) */
	uint64_t owner_bytes[OWNER_COUNT_];
	uint64_t unbacked_bytes, reserved_bytes, trimmable_bytes;
	uint64_t pss_bytes, swap_bytes, huge_page_bytes;
	size_t process_count; /* number of processes whose memory is in the sums */
	size_t unreadable_count;
	size_t late_count; /* number of processes whose memory has not been read yet */
	/* number of processes whose memory by owner is in the sums */
	size_t owners_count;
	size_t heap_count; /* number of processes whose heap is in the sums */
	/* start time of the oldest process; UINT64_MAX: there is no process */
	uint64_t oldest_start_ticks;
	/*
	 * time when the oldest figure in the sums was read; UINT64_MAX: there
	 * are no figures
	 */
	uint64_t oldest_taken_ns;
};

struct group {
	struct group_name name;
	struct group_sums sums;
	bool is_shown;
	/*
	 * number of successive snapshots, up to the latest, in which the group was among
	 * the `top` largest
	 */
	unsigned int large_looks;
	/*
	 * time when the group was first found not to be one of the 2 * `top` largest
	 * groups; 0 if it is one of them
	 */
	uint64_t small_since_ns;
};

struct named_groups {
	struct group **items; /* groups sorted by name, in byte order */
	size_t count, capacity;
	struct group_sums rest; /* sum over the groups that are not shown */
	size_t look_count;
};

#define NAMED_GROUPS_INIT     \
	{                     \
		.items = NULL \
	}

void named_groups_release(struct named_groups *groups);

/* Begin a snapshot: set the sums of all groups to 0. */
void named_groups_begin(struct named_groups *groups);

/*
 * Add a process to the group. If its usage was not read, or could not be read, only count
 * the process. Return the group, or NULL if it is "(rest)". The group exists as long as
 * it has processes.
 */
struct group *named_groups_add(struct named_groups *groups, const struct group_name *name,
			       const struct usage *usage);

/*
 * End a snapshot: drop the groups without processes, and decide which of the others are
 * shown. After the first snapshot, the `top` largest groups are shown. At most shown_max
 * groups are ever shown.
 */
void named_groups_end(struct named_groups *groups, size_t top, size_t shown_max,
		      uint64_t now_ns);

/*
 * Add the memory by owner of a process that was added to the group in this snapshot. If
 * group is NULL, add it to "(rest)". Call this function after named_groups_end(), which
 * decides for which groups the memory by owner is read.
 */
void named_groups_add_owners(struct named_groups *groups, struct group *group,
			     const struct owner_figures *owners);

/*
 * Return the resident memory in the sums that is not assigned to an owner: the memory of
 * processes whose mappings have not been read, plus the change in the memory of all other
 * processes since their mappings were read. The result may be negative.
 */
int64_t group_sums_unknown_bytes(const struct group_sums *sums);

/* Return the group with this name, or NULL. */
struct group *named_groups_find(const struct named_groups *groups, const char *name);

/* Return the sum over all groups. */
struct group_sums named_groups_total(const struct named_groups *groups);

#endif
