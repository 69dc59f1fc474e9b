/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own - keep memstate itself working when memory is about to run out. */
#ifndef MS_PROC_PROCESS_OWN_H
#define MS_PROC_PROCESS_OWN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Exempt memstate from the OOM killer. Return 0 or -errno:
 * -EACCES without CAP_SYS_RESOURCE.
 */
int own_disable_oom_kill(void);

/*
 * Raise memstate's scheduling priority, so that memstate keeps running when all CPUs are
 * busy. Without CAP_SYS_NICE, the function has no effect.
 */
void own_raise_priority(void);

/*
 * Lock memstate's pages in memory, so that the kernel does not reclaim them. With
 * CAP_IPC_LOCK, pages that are mapped later are also locked. Return 0 or -errno: -EPERM
 * or -ENOMEM if the kernel does not allow the lock. memstate can continue without the
 * lock.
 */
int own_lock_memory(void);

/*
 * Release the code pages of memstate and its libraries. Pages that are used again
 * are mapped from the page cache; those that were used only at startup no longer
 * count as resident.
 */
void own_release_code_pages(void);

/*
 * Return true unless vm.overcommit_memory is 2. In that mode, an access to a mapped file
 * in memory (memfd_create(2)) may end with SIGBUS, because the kernel has no page for it.
 * Also return false if the setting is unknown.
 * Source: Documentation/mm/overcommit-accounting.rst, mm/shmem.c.
 */
bool own_may_overcommit(void);

/*
 * Return true if writing to a file in memory may allocate a huge page (shmem_enabled).
 * Source: Documentation/admin-guide/mm/transhuge.rst.
 */
bool own_may_write_huge_pages(void);

/* Return the number of memstate's open file descriptors, or UINT64_MAX if unknown. */
uint64_t own_count_descriptors(void);

#endif
