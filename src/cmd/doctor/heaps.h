/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaps - find the heaps of a process without pausing it, and describe the evidence for
 * each heap and how well memstate can read the heap.
 */
#ifndef MS_CMD_DOCTOR_HEAPS_H
#define MS_CMD_DOCTOR_HEAPS_H

#include "cmd/doctor/facts.h"
#include "cmd/session/session.h"
#include "model/heap.h"

struct doctor_heaps {
	/* first heap of the process; its member `others` contains the other heaps */
	struct heap heap;
	/*
	 * The heap of a malloc that replaces libc's, if its library is mapped but the
	 * heap was not found. Otherwise, its allocator is ALLOCATOR_UNKNOWN.
	 */
	struct heap unread;
	/* printable reason why no heap was found, or empty */
	struct strbuf problem;
};

/*
 * Find the heaps of a process in a copy of its memory. The copy is made while the process
 * is running, unless the copy would be too large. The caller must have just read the
 * mappings, which determine the size of the copy. If a copy is made, this function
 * replaces *mappings and *u by the values at the time of the copy. Release *ret with
 * doctor_heaps_release().
 */
void doctor_heaps_read(struct session *session, struct usage *u,
		       struct mapping_list *mappings, struct doctor_heaps *ret);
void doctor_heaps_release(struct doctor_heaps *heaps);

/*
 * doctor_heaps_count() returns the number of heaps, and doctor_heaps_at() returns the
 * heap with the given index.
 */
size_t doctor_heaps_count(const struct doctor_heaps *heaps);
const struct heap *doctor_heaps_at(const struct doctor_heaps *heaps, size_t index);

/*
 * Set *ret to whether memstate can read the heap, how exact the figures are, and why.
 * Append the allocator's name, version and evidence to ret_help.
 */
void doctor_heap_describe(const struct heap *heap, struct strbuf *ret_help,
			  struct finding *ret);

#endif
