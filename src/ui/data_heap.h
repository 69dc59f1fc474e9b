/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_heap - the heap of the one process: whether it may be read, when it is, and what
 * was found.
 */
#ifndef MS_UI_DATA_HEAP_H
#define MS_UI_DATA_HEAP_H

#include "classify/past_heap.h"
#include "ui/heap_job.h"

struct data;

struct data_heap {
	struct heap_job *job; /* NULL until one is needed */
	struct heap_findings findings;
	struct past_heap past; /* of them, for later samples */
	bool is_known;	   /* the findings are of the one process */
	bool is_wanted;	   /* to be read as soon as can be */
	bool is_reading;   /* just now, the one process */
	bool is_awaited;   /* either, and somebody has asked for it */
	unsigned int wishes;	     /* for the next read */
	unsigned int reading_wishes; /* of the one that goes on */
	uint64_t began_ns; /* when that began */
	int progress_per_mille; /* of its look for leaks; -1: not there yet */

	/* processes for which somebody said that they may be stopped */
	struct process_name {
		int pid;
		uint64_t start_ticks;
		bool has_helper; /* and that a helper may be put in */
	} *allowed;
	size_t allowed_count, allowed_capacity;
};

void data_heap_init(struct data_heap *h);
void data_heap_release(struct data_heap *h);

/* Another process is the one. */
void data_heap_forget(struct data_heap *h);

/* True if the one process was named by the user, or data_heap_allow()ed. */
bool data_heap_is_allowed(const struct data *d);
void data_heap_allow(struct data *d);

/* Is its allocator to be asked, by a helper? And: yes, from now on, and one may be put in. */
bool data_heap_is_asked(const struct data *d);
void data_heap_ask(struct data *d);

/* True if there is a process that runs, and not a captured one. */
bool data_heap_can_be_read(const struct data *d);

/* How long it would stand still for these wishes; BYTES_UNKNOWN if that cannot be told. */
uint64_t data_heap_estimate_ns(const struct data *d, unsigned int wishes);

enum heap_wish {
	HEAP_AWAITED = 1 << 0, /* somebody waits for it */
	HEAP_DETAIL = 1 << 1,  /* with types, pages and pins */
	HEAP_LEAKS = 1 << 2,   /* and look for leaks */
};

/* Have it read. Nothing happens where that is not allowed. */
void data_heap_read(struct data *d, unsigned int wishes);

/* Stop waiting for it. */
void data_heap_cancel(struct data *d);

/* How long to wait from one read to the next: at least interval_ns, and as its cost demands. */
uint64_t data_heap_wait_ns(const struct data *d, uint64_t interval_ns);

/* When it is to be read again by itself; UINT64_MAX: not at all. */
uint64_t data_heap_due_ns(const struct data *d, uint64_t interval_ns);

/* The owners of the heap, as they were found last, into a later sample. */
void data_heap_add(const struct data *d, struct usage *u, struct mapping_list *mappings);

/* Begin what is wanted, take what was found. True if there is something new. */
bool data_heap_poll(struct data *d);

/* This is what was found; *f is the data's from now on. */
void data_heap_set(struct data *d, struct heap_findings *f);

/* What was found last, or NULL. */
const struct heap_findings *data_heap_findings(const struct data *d);

/* Readable when data_heap_poll() has something; -1 if nothing is under way. */
int data_heap_fd(const struct data *d);

#endif
