/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_name - the names of the groups for which the exporter sums up the memory of
 * processes, and the labels with which a query can join a group with the series of other
 * exporters. The functions are pure.
 *
 * Processes choose their names, so a name may be of any length and contain any bytes. All
 * strings in a struct group_name are valid UTF-8 without control characters, and at most
 * GROUP_NAME_LENGTH_MAX bytes long. Different long names stay different.
 */
#ifndef MS_CLASSIFY_EXPORTER_GROUP_NAME_H
#define MS_CLASSIFY_EXPORTER_GROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "model/cgroup.h"

enum grouping {
	GROUPING_AUTO, /* group by container, else by unit, else by cgroup */
	GROUPING_CONTAINER,
	GROUPING_UNIT,
	GROUPING_CGROUP,
	GROUPING_COMM,
	GROUPING_EXE,
	GROUPING_USER,
	GROUPING_COUNT_
};

/* The argument of --group-by: "auto", "container", … */
extern const char *const grouping_names[GROUPING_COUNT_];

/* Return true if the cgroup of a process determines its group. */
bool grouping_is_by_cgroup(enum grouping grouping);

/* The group of all processes that belong to no other group. */
#define GROUP_NAME_REST "(rest)"

#define GROUP_NAME_LENGTH_MAX 200

struct group_name {
	char *group; /* name of the group, owned; never NULL once it is set */
	/*
	 * Names of the container, owned. NULL: the name is unknown, or the group is not
	 * a container.
	 */
	char *namespace_name, *pod, *container;
};

void group_name_release(struct group_name *name);
void group_name_copy(struct group_name *to, const struct group_name *from);

/* Set the name to one word, such as the name of a command or of a user. */
void group_name_set_word(struct group_name *name, const char *word);

/*
 * Set the name of the group to which the processes of the cgroup at `path` belong.
 * `names` contains the names of the cgroup, from container_names_find() and from files.
 * Numbers in the names of scopes and of template instances become "*". A cgroup that does
 * not belong to a group of the given kind gets the name GROUP_NAME_REST.
 */
void group_name_set_cgroup(struct group_name *name, enum grouping grouping,
			   const char *path, char *const *names);

/*
 * Find the cgroup to which the name of a group refers. If processes are grouped by
 * cgroup, this is the cgroup at `path`. Otherwise, it is the highest cgroup in the path
 * that belongs to the same container, pod or unit as the cgroup at `path`. Return the
 * length of the path of the cgroup found.
 */
size_t group_name_find_cgroup(enum grouping grouping, const char *path);

#endif
