/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap - the heap of the selected process: whether memstate may read it, when to read it,
 * and the findings of the last read.
 */
#ifndef MS_UI_DATA_HEAP_H
#define MS_UI_DATA_HEAP_H

#include "sample/heap/findings.h"

struct data;
struct heap_walker;

struct data_heap {
	/* the reader of heaps; NULL before the first heap read */
	struct heap_walker *walker;
	struct heap_findings findings;
	/* figures of the last heap read, for estimating later samples */
	struct carried_heap carried;
	bool is_known;	     /* true if the findings belong to the selected process */
	bool is_wanted;	     /* true if a heap read is requested but has not started */
	bool is_reading;     /* true if the heap of the selected process is being read */
	bool is_awaited;     /* true if the user is waiting for a heap read */
	unsigned int wishes; /* enum heap_wish flags for the next heap read */
	/* enum heap_wish flags of the heap read in progress */
	unsigned int reading_wishes;
	uint64_t began_ns; /* start time of the heap read in progress */
	/* progress of the leak scan in thousandths; -1: not started */
	int progress_per_mille;

	/* processes that the user has allowed memstate to stop */
	struct process_name {
		int pid;
		uint64_t start_ticks;
		/* true if the user has also allowed memstate to inject a helper */
		bool has_helper;
	} * allowed;
	size_t allowed_count, allowed_capacity;
};

void data_heap_init(struct data_heap *h);
void data_heap_release(struct data_heap *h);

/* Discard all heap data when another process is selected. */
void data_heap_forget(struct data_heap *h);

/*
 * Return true if memstate may read the heap of the selected process: the user named the
 * process or allowed the read with data_heap_allow(), or memstate reads heaps without
 * stopping processes.
 */
bool data_heap_is_allowed(const struct data *d);
void data_heap_allow(struct data *d);

/*
 * Return true if a helper queries the allocator of the selected process. data_heap_ask()
 * enables such queries, and allows memstate to inject a helper.
 */
bool data_heap_is_asked(const struct data *d);
void data_heap_ask(struct data *d);

/*
 * Return true if the selected process is live and has memory. The heaps of captured
 * and recorded processes cannot be read.
 */
bool data_heap_can_be_read(const struct data *d);

/*
 * Return the time in ns for which a heap read with the given enum heap_wish flags would
 * stop the process, or BYTES_UNKNOWN if the time cannot be estimated.
 */
uint64_t data_heap_estimate_ns(const struct data *d, unsigned int wishes);

enum heap_wish {
	HEAP_AWAITED = 1 << 0, /* the user is waiting for the result */
	/* also determine block types, how full pages are, and which blocks pin pages */
	HEAP_DETAIL = 1 << 1,
	HEAP_LEAKS = 1 << 2, /* also scan for leaks */
};

/*
 * Request a heap read of the selected process. Do nothing if memstate is not permitted to
 * read the heap, or if the process has ended, or was captured or recorded.
 */
void data_heap_read(struct data *d, unsigned int wishes);

/* Cancel the requested or running heap read. */
void data_heap_cancel(struct data *d);

/*
 * Return the time to wait between two heap reads: interval_ns, or longer if the last read
 * was expensive.
 */
uint64_t data_heap_wait_ns(const struct data *d, uint64_t interval_ns);

/* Return the time of the next automatic heap read, or UINT64_MAX for never. */
uint64_t data_heap_due_ns(const struct data *d, uint64_t interval_ns);

/*
 * Estimate the heap memory of each owner in a later sample from the findings of the last
 * heap read, and store the estimates in the sample.
 */
void data_heap_add(const struct data *d, struct usage *u, struct mapping_list *mappings);

/*
 * Start a requested heap read, and collect the results of a finished heap read. Return
 * true if anything has changed.
 */
bool data_heap_poll(struct data *d);

/*
 * Replace the findings of the last heap read. The contents of *f are moved to d, and *f
 * is initialised again.
 */
void data_heap_set(struct data *d, struct heap_findings *f);

/* Return the findings of the last heap read, or NULL if no heap was read. */
const struct heap_findings *data_heap_findings(const struct data *d);

/*
 * Return a descriptor that becomes readable when data_heap_poll() has a result, or -1 if
 * no heap read is running.
 */
int data_heap_fd(const struct data *d);

#endif
