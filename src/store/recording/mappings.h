/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings - read the mappings of processes in ascending order of samples. Each sample
 * costs only as much as the changes since the previous one. Internal to store/.
 */
#ifndef MS_STORE_RECORDING_MAPPINGS_H
#define MS_STORE_RECORDING_MAPPINGS_H

#include "model/mapping.h"
#include "store/recording/sql.h"

/* The position of the reader in the rows of one process. */
struct mapping_walk;

struct mapping_walks {
	/* Readers, one for each process, in no particular order. */
	struct mapping_walk **items;
	size_t count, capacity;
	size_t next; /* index of the element to try first for the next process */
};

void mapping_walks_release(struct mapping_walks *walks);

/*
 * Read the mappings that a process had in a sample, in ascending address order. key is
 * the process's row and the sample. name is the statement that finds the name for a
 * number. The list is valid until the next call for that process, and *ret_version
 * changes whenever the list does. Returns 0 or -errno.
 */
int mapping_walks_read(struct mapping_walks *walks, sqlite3 *db, sqlite3_stmt *name,
		       const int64_t key[2], const struct mapping_list **ret,
		       uint64_t *ret_version);

/*
 * Read the name with this number into *ret, or "" if the file has no such name. The
 * caller frees *ret. Returns 0 or -EBADMSG.
 */
int recording_read_name(sqlite3_stmt *statement, int64_t number, char **ret);

/*
 * Add the length of a mapping's name to *sum, the total for a list of mappings. Returns
 * 0, or -EBADMSG if the total is too large.
 */
int recording_add_name_bytes(uint64_t *sum, size_t bytes);

#endif
