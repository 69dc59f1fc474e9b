/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject_target - a process that shows the effects of injecting and removing a helper.
 *
 * "inject_target BEHAVIOUR ARGUMENT FD". The target counts its progress and its errors in
 * FD, a file that the test maps, too; FD 0 means no file. It prints "pid" and "ready",
 * runs its behaviour, and ends with its parent or after INJECT_TARGET_SECONDS. Exit
 * status 77: not possible on this system; 99: failed.
 */
#ifndef MS_TESTS_INJECT_TARGET_H
#define MS_TESTS_INJECT_TARGET_H

#include <stdint.h>

#define INJECT_TARGET_SECONDS 300
#define COUNTERS_MAX 64

/*
 * The state that the test sees while the target runs: in native byte
 * order, mapped at the start of FD.
 */
struct shown {
	uint64_t counter_count;
	uint64_t wrong; /* number of errors: must stay 0 */
	uint64_t is_in_call;
	/* the longest wait of an allocating thread */
	uint64_t worst_ns;
	/* one per cache line; the first word of each counts */
	uint64_t counters[COUNTERS_MAX][8];
};

extern struct shown *shown;
extern int shown_fd;
extern const char *own_path; /* for executing itself again */

struct inject_behaviour {
	const char *name;
	void (*run)(const char *argument);
};

/* N threads including the main one allocate */
void churn_run(const char *argument);
/* N threads wait, the main one obeys letters */
void still_run(const char *argument);
void spin_run(const char *argument); /* only the main thread, which only counts */
/* N free chunks, and a thread that allocates */
void chunks_run(const char *argument);
/* same, with old return addresses into malloc() on its stack */
void idle_run(const char *argument);
void call_run(const char *argument);	  /* the main thread waits in one system call */
void registers_run(const char *argument); /* the main thread checks its registers */
void rseq_run(const char *argument);	  /* threads count in restartable sequences */
/* the main thread is where no call is possible */
void parked_run(const char *argument);
void filtered_run(const char *argument); /* seccomp: "ACTION:NUMBER" */
void traced_run(const char *argument);	 /* traced by another process */
void dumpable_run(const char *argument); /* not dumpable */
void rooted_run(const char *argument);	 /* has its own mount namespace and root */
void forks_run(const char *argument);	 /* forks, and sets its user id */
void vforks_run(const char *argument);	 /* vfork(), then exec of another program */
void vforked_run(const char *argument);	 /* a child shares its parent's memory */
void execs_run(const char *argument);	 /* executes itself again and again */
/* short-lived children; prints each "child" */
void ends_run(const char *argument);
void no_main_run(const char *argument); /* the first thread has ended */

/* Print "pid" and "ready". */
void target_is_ready(void);

_Noreturn void cannot(const char *what);
_Noreturn void failed(const char *what);

unsigned long number_of(const char *text);
uint64_t now_ns(void);
void count_one(unsigned long i);

/* Make sure that there is a heap: the first malloc() makes it, and its page remains. */
void have_heap(void);

/* Start a thread. When this returns, the thread runs with its own signal mask. */
void start_thread(void *(*run)(void *), void *argument);

#endif
