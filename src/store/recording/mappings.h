/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings - read the mappings of processes while samples are read in ascending
 * order, at the cost of only the changes between them. Internal to store/.
 */
#ifndef MS_STORE_RECORDING_MAPPINGS_H
#define MS_STORE_RECORDING_MAPPINGS_H

#include "model/mapping.h"
#include "store/recording/sql.h"

/* The position in the rows of one process. */
struct mapping_walk;

struct mapping_walks {
	struct mapping_walk **items; /* unordered; one per process */
	size_t count, capacity;
	size_t next; /* where to start looking for the next process */
};

void mapping_walks_release(struct mapping_walks *walks);

/*
 * Return the mappings of a process as of a sample, sorted by address; key is the
 * process's row and the sample. The list is valid until the next call for that
 * process. *ret_version changes whenever the list does. name is the statement that
 * finds a name. Returns 0 or -errno.
 */
int mapping_walks_read(struct mapping_walks *walks, sqlite3 *db, sqlite3_stmt *name,
		       const int64_t key[2], const struct mapping_list **ret,
		       uint64_t *ret_version);

/*
 * Read the name with this number, or "" if there is none. The caller
 * frees it. Returns 0 or -EBADMSG.
 */
int recording_read_name(sqlite3_stmt *statement, int64_t number, char **ret);

/*
 * Add the length of a name to *sum, the total for a list of mappings. Returns 0, or
 * -EBADMSG if the total is too large.
 */
int recording_add_name_bytes(uint64_t *sum, size_t bytes);

#endif
