/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/pre_copy.h"

#include <inttypes.h>

#include "base/units.h"

static void add_bytes(struct strbuf *out, uint64_t bytes, bool exact_bytes)
{
	char text[UNITS_TEXT_SIZE];

	if (exact_bytes && bytes_known(bytes))
		strbuf_addf(out, "%" PRIu64, bytes);
	else
		strbuf_addf(out, "%s", units_format_bytes(bytes, text));
}

void pre_copy_add_text(struct strbuf *out, const struct heap *heap, bool exact_bytes)
{
	char pause[UNITS_TEXT_SIZE];

	strbuf_addf(out, "paused for %s to copy ",
		    units_format_duration(heap->pause_ns, pause));
	if (heap->pre_copy.round_count > 0) {
		strbuf_add_text(out, "the last ");
		add_bytes(out, heap->pre_copy.late_bytes, exact_bytes);
		strbuf_add_text(out, " of ");
	}
	add_bytes(out, heap->copied_bytes, exact_bytes);
}

void pre_copy_add_split(struct strbuf *out, const struct heap *heap)
{
	const struct heap_pre_copy *p = &heap->pre_copy;
	char split[UNITS_TEXT_SIZE], restored[UNITS_TEXT_SIZE];

	if (p->split_bytes == 0)
		return;
	strbuf_addf(out, "Its writes during the copy split %s of huge pages",
		    units_format_bytes(p->split_bytes, split));
	if (p->restored_bytes == p->split_bytes)
		strbuf_add_text(out, ", all of which memstate restored.\n");
	else if (p->restored_bytes > 0)
		strbuf_addf(out, ", of which memstate restored %s.\n",
			    units_format_bytes(p->restored_bytes, restored));
	else
		strbuf_add_text(out, "; restoring them requires CAP_SYS_NICE.\n");
}

void pre_copy_add_json(struct json *j, const struct heap *heap)
{
	const struct heap_pre_copy *p = &heap->pre_copy;

	if (p->round_count == 0) {
		json_add_null(j, "pre_copy");
		return;
	}
	json_begin_object(j, "pre_copy");
	json_add_amount(j, "rounds", p->round_count);
	json_add_amount(j, "copied_bytes", p->copied_bytes);
	json_add_amount(j, "late_bytes", p->late_bytes);
	json_add_amount(j, "split_bytes", p->split_bytes);
	json_add_amount(j, "restored_bytes", p->restored_bytes);
	json_end_object(j);
}
