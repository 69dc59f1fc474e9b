/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own - keep memstate itself working when memory is about to run out. */
#ifndef MS_PROC_PROCESS_OWN_H
#define MS_PROC_PROCESS_OWN_H

/*
 * Exempt memstate from the OOM killer. Returns 0 or -errno:
 * -EACCES without CAP_SYS_RESOURCE.
 */
int own_disable_oom_kill(void);

/*
 * Raise memstate's scheduling priority, so that memstate still runs when all CPUs are
 * busy. No effect without CAP_SYS_NICE.
 */
void own_raise_priority(void);

/*
 * Lock memstate's pages in memory, so that the kernel does not reclaim them. With
 * CAP_IPC_LOCK, pages that are mapped later are also locked. Returns 0 or -errno: -EPERM
 * or -ENOMEM if the lock is not permitted. memstate can continue without the lock.
 */
int own_lock_memory(void);

#endif
