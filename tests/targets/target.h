/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target - a process whose memory is in one known state, for tests to compare with.
 *
 * Runs one behaviour of the table. The behaviour sets up its memory, and prints the
 * true figures as lines of "key value". It knows them from what it did, never from
 * smaps. Then it prints "ready" and waits to be killed. The target ends with its
 * parent, or after TARGET_SECONDS. Exit status 77: not possible on this system, with
 * the reason on stderr; 99: failed.
 */
#ifndef MS_TESTS_TARGET_H
#define MS_TESTS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARGET_SECONDS 300

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

struct behaviour {
	const char *name;
	const char *args;
	/* args ends with NULL and has at least the arguments that the table names */
	void (*run)(char **args);
};

extern const struct behaviour behaviours[];

/* The behaviours, by source file. */
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

/* Return the decimal number in text. */
size_t target_number(const char *text);

void target_say(const char *key, uint64_t value);
_Noreturn void target_skip(const char *why);
_Noreturn void target_fail(const char *what);

/*
 * End with the parent, and after the time limit. Call it again in each child after fork.
 */
void target_bind_to_parent(int parent);

/* Print "ready". */
void target_ready(void);
_Noreturn void target_wait(void);

/*
 * Call mmap(), or end the target. The mapping lies between two pages of
 * other permissions, so that the kernel does not merge it with a neighbour.
 * Prints its "start" and "end".
 */
char *target_map(size_t size, int protection, int flags, int fd);

/* Map private anonymous memory, readable and writable. */
char *target_map_anonymous(size_t size);

/* Write to, or read from, each page of a range. */
void target_write(char *from, size_t size);
void target_read(const char *from, size_t size);

#endif
