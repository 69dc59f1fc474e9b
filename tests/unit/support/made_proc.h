/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_proc - a made-up /proc, opened as a procfs, and the files of processes in it. Any
 * error fails the test.
 */
#ifndef MS_TESTS_MADE_PROC_H
#define MS_TESTS_MADE_PROC_H

#include "proc/system/procfs.h"
#include "tree.h"

/* The contents of smaps_rollup. */
#define MADE_ROLLUP                                                  \
	"55c8df37c000-7ffc5c1d1000 ---p 00000000 00:00 0 [rollup]\n" \
	"Rss:                  64 kB\nPss:                  60 kB\n" \
	"Shared_Clean:          8 kB\nShared_Dirty:          0 kB\n" \
	"Private_Clean:        16 kB\nPrivate_Dirty:        40 kB\n" \
	"LazyFree:              0 kB\nSwap:                  0 kB\n"

/* The folder that stands for /proc; empty when a test begins. */
extern struct tree made_tree;
extern struct procfs made_fs;

int made_proc_set_up(void **state);
int made_proc_tear_down(void **state);

/* Write the file `name` of a process. */
void made_proc_write(int pid, const char *name, const char *text);

/* Write the stat file of a process. */
void made_proc_write_stat(int pid, const char *comm, char state, int ppid,
			  int start_ticks);

/* Write smaps, with two mappings, and smaps_rollup. */
void made_proc_write_memory(int pid);

/* Write stat, smaps and smaps_rollup. The process started at 100 + pid ticks. */
void made_proc_write_process(int pid, const char *comm, int ppid);

#endif
