/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_mappings - the mappings of processes while samples are read as they rise: what
 * changed from one to the next is all that is read. For store/ alone.
 */
#ifndef MS_STORE_RECORDING_MAPPINGS_H
#define MS_STORE_RECORDING_MAPPINGS_H

#include "model/mapping.h"
#include "store/recording_sql.h"

/* Where the walk through a process's rows is. */
struct mapping_walk;

struct mapping_walks {
	struct mapping_walk **items; /* in no order: there are as many as processes */
	size_t count, capacity;
	size_t next; /* where the next one is looked for first */
};

void mapping_walks_release(struct mapping_walks *walks);

/*
 * As of a sample, by address; borrowed until the next call for that process. *ret_version is
 * another one whenever they are. name: the statement that finds a name. Returns 0 or -errno.
 */
int mapping_walks_read(struct mapping_walks *walks, sqlite3 *db, sqlite3_stmt *name,
		       const int64_t key[2], const struct mapping_list **ret,
		       uint64_t *ret_version);

/* Read the name of that number, "" if there is none. The caller frees it. Returns 0 or -EBADMSG. */
int recording_read_name(sqlite3_stmt *statement, int64_t number, char **ret);

/* Add the length of a name to those of a list of mappings. Returns 0, or -EBADMSG if too long. */
int recording_add_name_bytes(uint64_t *sum, size_t bytes);

#endif
