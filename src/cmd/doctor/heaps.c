/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/doctor/heaps.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/heap_problem.h"
#include "sample/heap/reader.h"
#include "walk/walk.h"

/*
 * Maximum size in bytes of the copy of a process's memory. Making such a copy takes
 * about a second.
 */
#define COPY_MAX_BYTES (UINT64_C(2) << 30)

static void set_error(struct doctor_heaps *heaps, int pid, int error)
{
	char size[UNITS_TEXT_SIZE];

	if (error == -EFBIG)
		strbuf_addf(&heaps->problem,
			    "their memory is larger than %s; 'memstate heap --no-stop -p "
			    "%d' examines it",
			    units_format_bytes(COPY_MAX_BYTES, size), pid);
	else if (error == -EACCES || error == -EPERM)
		strbuf_addf(&heaps->problem, "mem: %s", strerror(-error));
	else
		strbuf_add_text(&heaps->problem, heap_error_text(error));
}

void doctor_heaps_read(struct session *session, struct usage *u,
		       struct mapping_list *mappings, struct doctor_heaps *ret)
{
	struct heap_reader reader;
	int r;

	*ret = (struct doctor_heaps){ .problem = STRBUF_INIT };
	heap_init(&ret->heap);
	heap_init(&ret->unread);
	heap_reader_init(&reader, &session->fs, session->sampler, 0);
	reader.is_running = true;
	reader.is_read_once = true;
	reader.max_copy_bytes = COPY_MAX_BYTES;
	r = heap_reader_walk(&reader, u, mappings, &ret->heap);
	if (r == 0)
		walk_find_unread(mappings, &ret->heap, &ret->unread);
	if (r < 0)
		set_error(ret, u->process.pid, r);
	else if (doctor_heaps_count(ret) == 0)
		strbuf_add_text(&ret->problem,
				ret->heap.problem ? ret->heap.problem : "none was found");
	heap_reader_release(&reader);
}

void doctor_heaps_release(struct doctor_heaps *heaps)
{
	heap_release(&heaps->heap);
	heap_release(&heaps->unread);
	strbuf_release(&heaps->problem);
}

size_t doctor_heaps_count(const struct doctor_heaps *heaps)
{
	size_t found =
		heaps->heap.allocator == ALLOCATOR_UNKNOWN ? 0 : heap_count(&heaps->heap);

	return found + (heaps->unread.allocator != ALLOCATOR_UNKNOWN);
}

const struct heap *doctor_heaps_at(const struct doctor_heaps *heaps, size_t index)
{
	bool is_found = heaps->heap.allocator != ALLOCATOR_UNKNOWN &&
			index < heap_count(&heaps->heap);

	return is_found ? heap_at(&heaps->heap, index) : &heaps->unread;
}

void doctor_heap_describe(const struct heap *heap, struct strbuf *ret_help,
			  struct finding *ret)
{
	static const enum answer answers[QUALITY_COUNT_] = {
		[QUALITY_UNKNOWN] = ANSWER_NO,
		[QUALITY_ESTIMATE] = ANSWER_YES,
		[QUALITY_BOUND] = ANSWER_PARTLY,
		[QUALITY_EXACT] = ANSWER_YES,
	};

	strbuf_add_text(ret_help, allocator_titles[heap->allocator]);
	if (heap->version[0] != '\0') {
		strbuf_add_char(ret_help, ' ');
		text_add_printable(ret_help, heap->version, strlen(heap->version), false);
	}
	if (heap->evidence)
		strbuf_addf(ret_help, "; %s", heap->evidence);
	finding_set(ret, answers[heap->quality], NULL, "%s%s%s",
		    quality_names[heap->quality], heap->problem ? ": " : "",
		    heap->problem ? heap->problem : "");
}
