/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping - one virtual memory area of a process, as /proc/PID/smaps tells it. Plain data.
 *
 * Source: proc_pid_smaps(5), Documentation/filesystems/proc.rst; fields as of Linux 6.18.
 */
#ifndef MS_MODEL_MAPPING_H
#define MS_MODEL_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/matrix.h"

/*
 * The amounts of smaps and smaps_rollup. A field that the kernel did not print is
 * BYTES_UNKNOWN. Rss = Shared_Clean + Shared_Dirty + Private_Clean + Private_Dirty in
 * every mapping (smaps_account() in fs/proc/task_mmu.c counts each page in exactly one of
 * them); LazyFree is inside the clean ones; hugetlb pages are in none of these.
 */
enum smaps_field {
	SMAPS_SIZE,
	SMAPS_RSS,
	SMAPS_PSS,
	SMAPS_PSS_DIRTY,
	SMAPS_SHARED_CLEAN,
	SMAPS_SHARED_DIRTY,
	SMAPS_PRIVATE_CLEAN,
	SMAPS_PRIVATE_DIRTY,
	SMAPS_REFERENCED,
	SMAPS_ANONYMOUS,
	SMAPS_KSM,
	SMAPS_LAZYFREE,
	SMAPS_ANON_HUGE,
	SMAPS_SHMEM_PMD,
	SMAPS_FILE_PMD,
	SMAPS_SHARED_HUGETLB,
	SMAPS_PRIVATE_HUGETLB,
	SMAPS_SWAP,
	SMAPS_SWAP_PSS,
	SMAPS_LOCKED,
	SMAPS_FIELD_COUNT_
};

struct counters {
	uint64_t bytes[SMAPS_FIELD_COUNT_];
};

/* All fields unknown: what a record starts from. */
void counters_set_unknown(struct counters *c);

/* All fields 0: what a sum starts from. */
void counters_set_zero(struct counters *c);

/*
 * Field by field; unknown stays unknown (a field missing in one record is missing in the
 * sum).
 */
void counters_add(struct counters *sum, const struct counters *c);

enum mapping_flag {
	MAPPING_READ = 1 << 0,
	MAPPING_WRITE = 1 << 1,
	MAPPING_EXEC = 1 << 2,
	MAPPING_SHARED = 1 << 3,
	MAPPING_NO_HUGE = 1 << 4,    /* VmFlags nh: MADV_NOHUGEPAGE, or MAP_STACK since Linux 6.7 */
	MAPPING_GROWS_DOWN = 1 << 5, /* VmFlags gd */
	MAPPING_HUGETLB = 1 << 6,    /* VmFlags ht */
	MAPPING_LOCKED = 1 << 7,     /* VmFlags lo */
	MAPPING_TMPFS = 1 << 8,	     /* the file is on a tmpfs, or on the kernel's own shmem mount */
	MAPPING_MALLOC = 1 << 9,     /* memory of the allocator is in it: the heap was read */
	/* Live processes only: a page fault may wait for another process or machine. */
	MAPPING_REMOTE = 1 << 10,    /* the file is on FUSE, a network or an unknown file system */
	MAPPING_USERFAULT = 1 << 11, /* VmFlags um, uw, ui: userfaultfd(2) */
};

struct mapping {
	uint64_t start_addr;
	uint64_t end_addr; /* first address after it */
	uint64_t file_offset_bytes;
	uint64_t inode; /* 0: no file */
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t flags; /* enum mapping_flag */
	enum owner owner; /* as classify/ sees it; meaningless until it did */
	uint32_t name_length;
	const char *name; /* the last column as the kernel wrote it, "" if none; NUL-terminated */
	struct counters counters;
};

#define MAPPING_ACCESS (MAPPING_READ | MAPPING_WRITE | MAPPING_EXEC)

/*
 * True if none of its memory may be read: a page may vanish at any time, and whoever
 * touches it then waits for another process or machine. Private pages that are no longer
 * the file's (MAPPING_REMOTE) cannot vanish.
 */
bool mapping_is_skipped(const struct mapping *m);

/* "rw-p" as in maps. Returns buf. */
const char *mapping_format_perms(const struct mapping *m, char buf[5]);

/*
 * What mappings of one kind have in common: the name; "malloc" where nameless memory is
 * the allocator's (its arenas, its large blocks); "" where there is nothing.
 */
const char *mapping_group_name(const struct mapping *m);

/* A growing list of mappings that owns their names. */
struct mapping_list {
	struct mapping *items;
	size_t count;
	size_t capacity;
};

#define MAPPING_LIST_INIT { NULL, 0, 0 }

/* Append a copy of *m, name included. */
void mapping_list_add(struct mapping_list *list, const struct mapping *m);
void mapping_list_release(struct mapping_list *list);

/* The mapping that holds addr, or NULL. The list is in order of address. */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t addr);

#endif
