/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject_target - a process that shows what putting a helper in, and taking it out, did to it.
 *
 * "inject_target BEHAVIOUR ARGUMENT FD". What must go on, and what must stay right, is counted in FD, a file
 * that the test maps too; FD 0 is none. It says "pid" and "ready", does what its behaviour is, and ends with
 * its parent and after INJECT_TARGET_SECONDS. Exit 77: cannot be had here; 99: failed.
 */
#ifndef MS_TESTS_INJECT_TARGET_H
#define MS_TESTS_INJECT_TARGET_H

#include <stdint.h>

#define INJECT_TARGET_SECONDS 300
#define COUNTERS_MAX 64

/* What the test sees of it while it runs: in native byte order, mapped at the start of FD. */
struct shown {
	uint64_t counter_count;
	uint64_t wrong; /* whatever must never be: 0 */
	uint64_t is_in_call;
	uint64_t worst_ns;		      /* the longest wait of one who allocates */
	uint64_t counters[COUNTERS_MAX][8]; /* one per cache line, of each the first goes up */
};

extern struct shown *shown;
extern int shown_fd;
extern const char *own_path; /* to start itself again */

struct inject_behaviour {
	const char *name;
	void (*run)(const char *argument);
};

void churn_run(const char *argument);	    /* N threads, the main one among them, allocate */
void still_run(const char *argument);	    /* N threads wait, the main one answers letters */
void spin_run(const char *argument);	    /* the main thread only, and it only counts */
void chunks_run(const char *argument);	    /* N free chunks, and a thread that allocates */
void idle_run(const char *argument);	    /* likewise, with old return addresses into malloc() on its stack */
void call_run(const char *argument);	    /* the main thread in one system call that waits */
void registers_run(const char *argument);   /* the main thread knows what is in its registers */
void rseq_run(const char *argument);	    /* threads count in restartable sequences */
void parked_run(const char *argument);	    /* the main thread where nothing may be put in */
void filtered_run(const char *argument);    /* seccomp: "ACTION:NUMBER" */
void traced_run(const char *argument);	    /* by another process */
void dumpable_run(const char *argument);    /* not so */
void rooted_run(const char *argument);	    /* mount namespace and root folder of its own */
void forks_run(const char *argument);	    /* forks, and changes its user id */
void vforks_run(const char *argument);	    /* vfork() and exec of another program */
void vforked_run(const char *argument);	    /* a child that has its parent's memory */
void execs_run(const char *argument);	    /* becomes itself again and again */
void ends_run(const char *argument);	    /* children that live for a moment; says each "child" */
void no_main_run(const char *argument);	    /* its first thread has ended */

/* Says "pid" and "ready". */
void target_is_ready(void);

_Noreturn void cannot(const char *what);
_Noreturn void failed(const char *what);

unsigned long number_of(const char *text);
uint64_t now_ns(void);
void count_one(unsigned long i);

/* The first malloc() makes one, and the page of it stays. */
void have_heap(void);


/* When this returns it runs, with the signal mask of its own. */
void start_thread(void *(*run)(void *), void *argument);

#endif
