/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target - a process whose memory is in one known state, for tests to compare with.
 *
 * Runs one behaviour of the table. It sets its memory up, says the true figures, which it knows
 * from what it did and never from smaps, as lines of "key value", says "ready", and waits to be
 * killed. It dies with its parent, and after TARGET_SECONDS. Exit 77: cannot be had here, the
 * reason is on stderr; 99: failed.
 */
#ifndef MS_TESTS_TARGET_H
#define MS_TESTS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARGET_SECONDS 60

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

struct behaviour {
	const char *name;
	const char *args;
	void (*run)(char **args); /* args ends with NULL; at least as many as the table names */
};

extern const struct behaviour behaviours[];

/* Behaviours, by file. */
void lazyfree_run(char **args);
void unbacked_run(char **args);
void dontneed_run(char **args);
void reserved_run(char **args);
void locked_run(char **args);
void swapped_run(char **args);
void shared_anonymous_run(char **args);
void memfd_run(char **args);
void posix_shm_run(char **args);
void sysv_shm_run(char **args);
void tmpfs_run(char **args);
void file_run(char **args);
void cow_run(char **args);
void threads_run(char **args);
void huge_run(char **args);
void hugetlb_run(char **args);
void mappings_run(char **args);
void name_run(char **args);
void zombie_run(char **args);
void leaderless_run(char **args);
void family_run(char **args);
void exec_loop_run(char **args);
void exit_loop_run(char **args);
void churn_run(char **args);

size_t target_page_size(void);

/* A number of args, in decimal. */
size_t target_number(const char *text);

void target_say(const char *key, uint64_t value);
_Noreturn void target_skip(const char *why);
_Noreturn void target_fail(const char *what);

/* Die with the parent, and in time: again in each child after fork. */
void target_bind_to_parent(int parent);

/* Says "ready". */
void target_ready(void);
_Noreturn void target_wait(void);

/*
 * mmap() that cannot fail, between two pages of other permissions, so that the kernel does not
 * merge it with a neighbour. Says its "start" and "end".
 */
char *target_map(size_t size, int protection, int flags, int fd);

/* Private, anonymous, readable and writable. */
char *target_map_anonymous(size_t size);

/* Write to, read from, each page of a range. */
void target_write(char *from, size_t size);
void target_read(const char *from, size_t size);

#endif
