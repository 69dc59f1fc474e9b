/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings - read the mappings of processes in ascending order of samples. The time for
 * reading a sample depends only on the number of changes since the previous sample.
 * Internal to store/.
 */
#ifndef MS_STORE_RECORDING_MAPPINGS_H
#define MS_STORE_RECORDING_MAPPINGS_H

#include "model/mapping.h"
#include "store/recording/sql.h"

/* The reader of the mapping rows of one process, with its current position. */
struct mapping_walk;

struct mapping_walks {
	/* readers of mapping rows, one per process, in no particular order */
	struct mapping_walk **items;
	size_t count, capacity;
	size_t next; /* index of the reader with which the next search begins */
};

void mapping_walks_release(struct mapping_walks *walks);

/*
 * Read the mappings that a process had in a sample, in ascending order of address.
 * `key` contains the row number of the process and the number of the sample. `name` is
 * the statement that finds a name by its number. The list is valid until the next call
 * for the same process, and *ret_version changes whenever the list changes. Return 0
 * or -errno.
 */
int mapping_walks_read(struct mapping_walks *walks, sqlite3 *db, sqlite3_stmt *name,
		       const int64_t key[2], const struct mapping_list **ret,
		       uint64_t *ret_version);

/*
 * Read the name with the given number into *ret, or "" if the file does not contain it.
 * The caller frees *ret. Return 0 or -EBADMSG.
 */
int recording_read_name(sqlite3_stmt *statement, int64_t number, char **ret);

/*
 * Add the length of a mapping's name to *sum, the total length of the names in a list.
 * Return 0, or -EBADMSG if the total is too large.
 */
int recording_add_name_bytes(uint64_t *sum, size_t bytes);

#endif
