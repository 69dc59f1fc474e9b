/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopped_process - a process for tests to stop; it counts steps while it runs.
 */
#ifndef MS_TESTS_STOPPED_PROCESS_H
#define MS_TESTS_STOPPED_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/units.h"
#include "tracee/ptrace/stop.h"

#define SECONDS 100
#define LIMIT_NS (60 * NS_PER_S) /* only a hang takes this long */
#define THREADS_MANY 400
#define STACK_BYTES (32 << 10)
#define MAGIC UINT64_C(0x00007a5cc3e1f0d0)

/* Memory that the target shares with the test. */
struct shared {
	volatile int is_ready;
	volatile uint64_t steps; /* grows while any thread of the target runs */
};

extern struct shared *shared;
extern uint64_t last_pause_ns; /* set by run_work() */

struct target {
	pid_t pid;
	int task_fd;
};

void map_shared(void);
int set_up(void **state);
int tear_down(void **state);

/* Start behave() in a process, and wait until it has set is_ready. */
void begin(struct target *target, void (*behave)(void));
void end(struct target *target);

/* For use in the target. */
void start_thread(void *(*run)(void *));
void *count_steps(void *unused);
void be_many(void); /* THREADS_MANY threads count */

/* Stop the target and call work with it. */
int run_work(struct target *target, uint64_t limit_ns,
	     int (*work)(void *, const struct stop *));

/*
 * Return the number of threads. *ret_in_states is the number of those
 * that are in one of the states.
 */
size_t count_threads(const struct target *target, const char *states,
		     size_t *ret_in_states);

/* Wait until the step count grows. Return false if it does not. */
bool goes_on(void);

#endif
