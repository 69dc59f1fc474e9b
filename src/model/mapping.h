/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping - one virtual memory area of a process as listed in
 * /proc/PID/smaps. Plain data.
 *
 * Source: proc_pid_smaps(5), Documentation/filesystems/proc.rst; fields as of Linux 6.18.
 */
#ifndef MS_MODEL_MAPPING_H
#define MS_MODEL_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/known_use.h"
#include "model/matrix.h"

/*
 * The amounts in smaps and smaps_rollup. A field that the kernel did not print is
 * BYTES_UNKNOWN. In every mapping Rss = Shared_Clean + Shared_Dirty + Private_Clean +
 * Private_Dirty, because smaps_account() in fs/proc/task_mmu.c counts each page in
 * exactly one of them. LazyFree pages are also counted as clean pages. Hugetlb pages are
 * in none of these fields.
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

/* Set all fields to unknown. Call this before parsing a record. */
void counters_set_unknown(struct counters *c);

/* Set all fields to 0. Call this before adding amounts. */
void counters_set_zero(struct counters *c);

/* Add *c to *sum field by field. The sum of a field is unknown if either term is. */
void counters_add(struct counters *sum, const struct counters *c);

enum mapping_flag {
	MAPPING_READ = 1 << 0,
	MAPPING_WRITE = 1 << 1,
	MAPPING_EXEC = 1 << 2,
	MAPPING_SHARED = 1 << 3,
	/* VmFlags nh: MADV_NOHUGEPAGE; since Linux 6.7 also MAP_STACK. */
	MAPPING_NO_HUGE = 1 << 4,
	MAPPING_GROWS_DOWN = 1 << 5, /* VmFlags gd: the mapping grows downwards */
	MAPPING_HUGETLB = 1 << 6,    /* VmFlags ht: huge pages from hugetlbfs */
	MAPPING_LOCKED = 1 << 7,     /* VmFlags lo: locked into memory */
	/* The file is on a tmpfs or on the kernel's own shmem mount. */
	MAPPING_TMPFS = 1 << 8,
	/*
	 * The mapping contains memory of a heap. memstate sets this flag, together with
	 * the bits of MAPPING_ALLOCATOR_MASK, after reading the heaps.
	 */
	MAPPING_HEAP = 1 << 9,
	/*
	 * MAPPING_REMOTE and MAPPING_USERFAULT are set only for running processes. A page
	 * fault in a mapping with one of these flags may wait for another process or
	 * machine.
	 */
	/* The file is on FUSE, on a network file system or on an unknown file system. */
	MAPPING_REMOTE = 1 << 10,
	/* VmFlags um, ui: userfaultfd(2) handles page faults. */
	MAPPING_USERFAULT = 1 << 11,
	/*
	 * VmFlags uw: userfaultfd(2) tracks writes, or makes them wait. Reads never wait.
	 */
	MAPPING_WRITE_TRACKED = 1 << 12,
};

/*
 * These bits of the flags contain an enum allocator: the allocator whose heap occupies
 * the largest part of the mapping. They are 0 if the mapping contains no heap, or comes
 * from a recording of an earlier version.
 */
#define MAPPING_ALLOCATOR_SHIFT 16
#define MAPPING_ALLOCATOR_MASK (UINT32_C(15) << MAPPING_ALLOCATOR_SHIFT)

struct mapping {
	uint64_t start_addr;
	uint64_t end_addr; /* first address after the mapping */
	uint64_t file_offset_bytes;
	uint64_t inode; /* inode number; 0 if the mapping has no file */
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t flags;	  /* bits of enum mapping_flag */
	enum owner owner; /* owner of the memory; undefined until classify/ sets it */
	/* Known use; set by classify_uses(). USE_NONE if most of the mapping is heap. */
	enum known_use use;
	uint32_t name_length;
	/*
	 * The last column of the line as the kernel printed it, or "" if the column is
	 * empty.
	 */
	const char *name;
	struct counters counters;
};

#define MAPPING_ACCESS (MAPPING_READ | MAPPING_WRITE | MAPPING_EXEC)

/*
 * Return true if memstate must not read the memory of the mapping, because its pages may
 * vanish at any time, and a page fault would then wait for another process or machine. A
 * private mapping with MAPPING_REMOTE is not skipped, but memstate may read only its
 * private copies of pages, which cannot vanish.
 */
bool mapping_is_skipped(const struct mapping *m);

/*
 * Return how many bytes of the mapping memstate may copy. This is the resident memory
 * plus hugetlbfs pages, which Rss does not include. In a mapping with MAPPING_REMOTE only
 * private copies count. Return BYTES_UNKNOWN if smaps lacks a field.
 */
uint64_t mapping_copyable_bytes(const struct mapping *m);

/* Format the permissions as in /proc/PID/maps, such as "rw-p". Return buf. */
const char *mapping_format_perms(const struct mapping *m, char buf[5]);

/*
 * Return the name under which reports group similar mappings: the mapping's own name if
 * it has one; the name of a known use, such as "InnoDB buffer pool"; for a nameless
 * mapping of a heap, "malloc" or the title of the runtime's heap, such as "Go heap";
 * otherwise "". Reports show each stack on its own, so stacks have no such name.
 */
const char *mapping_group_name(const struct mapping *m);

/* A growing list of mappings. The list owns the mappings' names. */
struct mapping_list {
	struct mapping *items;
	size_t count;
	size_t capacity;
};

#define MAPPING_LIST_INIT  \
	{                  \
		NULL, 0, 0 \
	}

/* Append a copy of *m, including its name. */
void mapping_list_add(struct mapping_list *list, const struct mapping *m);
void mapping_list_release(struct mapping_list *list);

/*
 * Return the mapping that contains addr, or NULL. The list must
 * be in ascending address order.
 */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t addr);

#endif
