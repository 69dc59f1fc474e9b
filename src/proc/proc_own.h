/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_own - memstate itself, where memory is about to run out.
 */
#ifndef MS_PROC_PROC_OWN_H
#define MS_PROC_PROC_OWN_H

/*
 * That the kernel does not choose it when it kills for want of memory. Returns 0 or -errno:
 * -EACCES without CAP_SYS_RESOURCE.
 */
int own_spare_from_kill(void);

/* That it comes before others where all CPUs are busy. Without CAP_SYS_NICE it does not. */
void own_be_quick(void);

/*
 * That its pages, those that it has used and will use, are not taken back. Returns 0 or
 * -errno: -EPERM or -ENOMEM without CAP_IPC_LOCK; it is not slower or larger then.
 */
int own_lock_memory(void);

#endif
