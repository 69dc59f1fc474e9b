/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - the heap of the selected process: whether it may be read, when to read
 * it, and the findings of the last read.
 */
#ifndef MS_UI_DATA_HEAP_H
#define MS_UI_DATA_HEAP_H

#include "sample/heap/findings.h"

struct data;
struct heap_walker;

struct data_heap {
	struct heap_walker *walker; /* NULL until the first read */
	struct heap_findings findings;
	/* figures of the last read, carried over to later samples */
	struct carried_heap carried;
	bool is_known;	 /* the findings belong to the selected process */
	bool is_wanted;	 /* a read has been requested but has not started */
	bool is_reading; /* the heap of the selected process is being read */
	bool is_awaited; /* the user is waiting for a read, requested or in progress */
	unsigned int wishes;	     /* enum heap_wish flags for the next read */
	unsigned int reading_wishes; /* enum heap_wish flags of the read in progress */
	uint64_t began_ns;	     /* when the read in progress began */
	/* progress of the leak scan in thousandths; -1: not started */
	int progress_per_mille;

	/* processes that the user has allowed memstate to stop */
	struct process_name {
		int pid;
		uint64_t start_ticks;
		/* the user has also allowed memstate to inject a helper */
		bool has_helper;
	} * allowed;
	size_t allowed_count, allowed_capacity;
};

void data_heap_init(struct data_heap *h);
void data_heap_release(struct data_heap *h);

/* Discard all heap data, because another process is being selected. */
void data_heap_forget(struct data_heap *h);

/*
 * Return true if the heap of the selected process may be read: the user named the process
 * or allowed the read with data_heap_allow(), or heaps are read without a stop.
 */
bool data_heap_is_allowed(const struct data *d);
void data_heap_allow(struct data *d);

/*
 * Return true if a helper queries the allocator of the selected process. data_heap_ask()
 * turns such queries on, and allows memstate to inject a helper.
 */
bool data_heap_is_asked(const struct data *d);
void data_heap_ask(struct data *d);

/*
 * Return true if the selected process is live and has memory. The heaps of captured
 * and recorded processes cannot be read.
 */
bool data_heap_can_be_read(const struct data *d);

/*
 * Return how long a read with these wishes would stop the process, in ns;
 * BYTES_UNKNOWN if the time cannot be estimated.
 */
uint64_t data_heap_estimate_ns(const struct data *d, unsigned int wishes);

enum heap_wish {
	HEAP_AWAITED = 1 << 0, /* the user is waiting for the result of the read */
	HEAP_DETAIL = 1 << 1,  /* also find types, pages and pins */
	HEAP_LEAKS = 1 << 2,   /* also scan for leaks */
};

/* Request a read of the heap. Does nothing if the heap may not be read. */
void data_heap_read(struct data *d, unsigned int wishes);

/* Cancel the requested or running read. */
void data_heap_cancel(struct data *d);

/*
 * Return how long to wait between two reads of the heap: at least interval_ns, or
 * longer if the last read was expensive.
 */
uint64_t data_heap_wait_ns(const struct data *d, uint64_t interval_ns);

/*
 * Return when to read the heap again without a request from the user; UINT64_MAX: never.
 */
uint64_t data_heap_due_ns(const struct data *d, uint64_t interval_ns);

/*
 * Add the heap's owners to a later sample, estimated from the findings of the last read.
 */
void data_heap_add(const struct data *d, struct usage *u, struct mapping_list *mappings);

/*
 * Start a requested heap read, and collect a finished
 * one. Returns true if anything changed.
 */
bool data_heap_poll(struct data *d);

/*
 * Set the findings of a heap read. Ownership of the contents of *f
 * moves to d; *f is then reinitialized.
 */
void data_heap_set(struct data *d, struct heap_findings *f);

/* Return the findings of the last heap read, or NULL if there are none. */
const struct heap_findings *data_heap_findings(const struct data *d);

/*
 * Return a descriptor that becomes readable when data_heap_poll() has
 * a result; -1 if no read is running.
 */
int data_heap_fd(const struct data *d);

#endif
