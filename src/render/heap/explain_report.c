/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/explain_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/allocator_signs.h"
#include "render/table/output.h"

/*
 * Maximum number of steps of a pointer path in the report. Longer paths are shown without
 * their middle.
 */
#define STEPS_SHOWN 16

static const char *const page_words[] = {
	[PAGE_ABSENT] = "absent",
	[PAGE_RESIDENT] = "resident",
	[PAGE_ZEROS] = "zeros",
	[PAGE_SWAPPED] = "swapped",
};

static const char *const page_texts[] = {
	[PAGE_ABSENT] = "no page: never touched, or returned to the kernel",
	[PAGE_RESIDENT] = "resident",
	[PAGE_ZEROS] = "the shared zero page: read, never written, not part of Rss",
	[PAGE_SWAPPED] = "swapped out",
};

static const char *const lazyfree_words[] = {
	[LAZYFREE_NO] = "no",
	[LAZYFREE_MAYBE] = "maybe",
	[LAZYFREE_YES] = "yes",
};

static const char *const root_words[] = {
	[ROOT_REGISTER] = "register",
	[ROOT_TLS] = "tls",
	[ROOT_STACK] = "stack",
	[ROOT_MEMORY] = "memory",
};

static const char *block_type(const struct explain_report *r, const struct block *block)
{
	const struct blocks *blocks = r->explanation->blocks;
	uint32_t type = 0;

	if (r->types && blocks && block->state == BLOCK_LIVE)
		type = types_of_block(r->types, blocks, block);
	return type ? types_name(r->types, type) : NULL;
}

static bool is_step_shown(const struct path *path, size_t i)
{
	return i < STEPS_SHOWN / 2 || path->count - i <= STEPS_SHOWN / 2;
}

/* The functions below write the report as text. */

static void add_mapping(struct strbuf *out, const struct mapping *m)
{
	char perms[5];

	strbuf_addf(out, "%" PRIx64 "-%" PRIx64 " %s", m->start_addr, m->end_addr,
		    mapping_format_perms(m, perms));
	if (m->name_length > 0) {
		strbuf_add_char(out, ' ');
		text_add_printable(out, m->name, m->name_length, false);
	}
}

static void add_page(struct strbuf *out, const struct explanation *e)
{
	strbuf_addf(out, "  page     %s",
		    e->is_page_known ? page_texts[e->page] : "unknown");
	if (e->page == PAGE_RESIDENT && e->lazyfree == LAZYFREE_YES)
		strbuf_add_text(out, ", LazyFree: freed, not reclaimed yet");
	if (e->page == PAGE_RESIDENT && e->lazyfree == LAZYFREE_MAYBE)
		strbuf_add_text(out, ", perhaps LazyFree: some pages of the mapping are");
	strbuf_add_char(out, '\n');
}

static void add_block(struct strbuf *out, const struct explain_report *r)
{
	const struct explanation *e = r->explanation;
	const char *type;

	if (r->problem)
		strbuf_addf(out, "  block    unknown: %s\n", r->problem);
	else if (!e->heap)
		strbuf_add_text(out, "  block    none: it is not heap memory\n");
	else if (!e->has_block)
		strbuf_addf(out, "  block    none: %s\n", e->part);
	if (e->heap && !allocator_is_malloc(e->heap->allocator))
		strbuf_addf(out, "  heap     %s\n", allocator_titles[e->heap->allocator]);
	if (!e->has_block)
		return;
	strbuf_addf(out, "  block    %" PRIx64 ", %" PRIu64 " bytes, %s", e->block.addr,
		    e->block.bytes, e->part);
	if (e->list_chunk_bytes > 0)
		strbuf_addf(out, ", of chunks of %" PRIu64 " bytes", e->list_chunk_bytes);
	if (e->addr != e->block.addr)
		strbuf_addf(out, "; %" PRIu64 " bytes into it", e->addr - e->block.addr);
	type = block_type(r, &e->block);
	if (type) {
		strbuf_add_text(out, "\n  type     ");
		text_add_printable(out, type, strlen(type), false);
	}
	if (e->arena_addr)
		strbuf_addf(out, "\n  arena    %" PRIx64, e->arena_addr);
	strbuf_add_char(out, '\n');
}

static void add_root(struct strbuf *out, const struct explain_report *r)
{
	const struct root_place *root = &r->explanation->root;
	const struct path_step *step = &r->explanation->path.steps[0];

	switch (root->kind) {
	case ROOT_REGISTER:
		strbuf_addf(out, "a register of thread %d", root->tid);
		return;
	case ROOT_TLS:
		strbuf_addf(out,
			    "%" PRIx64 ", data of thread %d (thread pointer %+" PRId64
			    ")",
			    step->place_addr, root->tid, root->offset);
		return;
	case ROOT_STACK:
		strbuf_addf(out,
			    "%" PRIx64 ", stack of thread %d (stack pointer %+" PRId64
			    ")",
			    step->place_addr, root->tid, root->offset);
		return;
	case ROOT_MEMORY: break;
	}
	strbuf_addf(out, "%" PRIx64 ", ", step->place_addr);
	if (symbols_add_place(r->symbols, step->place_addr, out) || !root->mapping)
		return;
	add_mapping(out, root->mapping);
	strbuf_addf(out, " +%" PRId64, root->offset);
}

static void add_steps(struct strbuf *out, const struct explain_report *r)
{
	const struct path *path = &r->explanation->path;

	for (size_t i = 0; i < path->count; i++) {
		const struct path_step *step = &path->steps[i];
		const char *type = block_type(r, &step->block);

		if (i == STEPS_SHOWN / 2 && !is_step_shown(path, i))
			strbuf_addf(out, "           … %zu more …\n",
				    path->count - STEPS_SHOWN);
		if (!is_step_shown(path, i))
			continue;
		strbuf_addf(out, "           -> %" PRIx64 ", block of %" PRIu64,
			    step->block.addr, step->block.bytes);
		if (step->word != step->block.addr)
			strbuf_addf(out, ", %" PRIu64 " bytes into it",
				    step->word - step->block.addr);
		if (type) {
			strbuf_add_text(out, ", ");
			text_add_printable(out, type, strlen(type), false);
		}
		if (i + 1 < path->count)
			strbuf_addf(out, "; at +%" PRIu64,
				    path->steps[i + 1].place_addr - step->block.addr);
		strbuf_add_char(out, '\n');
	}
}

static void add_reach(struct strbuf *out, const struct explain_report *r)
{
	const struct explanation *e = r->explanation;

	if (!e->is_reach_known)
		return;
	if (!e->path.is_found) {
		strbuf_add_text(out, "  reached  by nothing: it is leaked\n");
		return;
	}
	strbuf_addf(out, "  reached  via %zu pointer%s, from ", e->path.count,
		    e->path.count == 1 ? "" : "s");
	add_root(out, r);
	strbuf_add_char(out, '\n');
	add_steps(out, r);
}

void explain_report_add_text(struct strbuf *out, const struct explain_report *report)
{
	const struct explanation *e = report->explanation;
	size_t begin;

	strbuf_addf(out, "%" PRIx64 " in %d ", e->addr, report->usage->process.pid);
	text_add_printable(out, report->usage->process.comm,
			   strlen(report->usage->process.comm), false);
	strbuf_add_text(out, "\n  mapping  ");
	add_mapping(out, e->mapping);
	strbuf_addf(out, " +%" PRIu64 "\n", e->addr - e->mapping->start_addr);
	begin = out->length;
	strbuf_add_text(out, "  symbol   ");
	if (symbols_add_place(report->symbols, e->addr, out))
		strbuf_add_char(out, '\n');
	else
		strbuf_truncate(out, begin);
	add_page(out, e);
	add_block(out, report);
	add_reach(out, report);
}

/* The functions below write the report as JSON. */

static void add_json_symbol(struct json *j, struct symbols *symbols, uint64_t addr)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	json_add_string(j, "symbol",
			symbols_add_place(symbols, addr, &text) ? strbuf_text(&text)
								: NULL);
}

static void add_json_mapping(struct json *j, const struct mapping *m)
{
	char perms[5];

	json_begin_object(j, "mapping");
	json_add_address(j, "start_addr", m->start_addr);
	json_add_address(j, "end_addr", m->end_addr);
	json_add_string(j, "perms", mapping_format_perms(m, perms));
	json_add_string_part(j, "name", m->name, m->name_length);
	json_end_object(j);
}

static void add_json_block(struct json *j, const struct explain_report *r)
{
	static const char *const states[] = {
		[BLOCK_LIVE] = "live",
		[BLOCK_CACHED] = "cached",
		[BLOCK_FREE] = "free",
		[BLOCK_OWN] = "own",
	};
	const struct explanation *e = r->explanation;

	json_add_string(j, "problem", r->problem);
	json_add_string(j, "heap", e->heap ? allocator_names[e->heap->allocator] : NULL);
	if (!e->has_block) {
		json_add_null(j, "block");
		return;
	}
	json_begin_object(j, "block");
	json_add_address(j, "addr", e->block.addr);
	json_add_number(j, "block_bytes", e->block.bytes);
	json_add_number(j, "offset_bytes", e->addr - e->block.addr);
	json_add_string(j, "state", states[e->block.state]);
	json_add_string(j, "part", e->part);
	json_add_amount(j, "list_chunk_bytes",
			e->list_chunk_bytes > 0 ? e->list_chunk_bytes : BYTES_UNKNOWN);
	json_add_string(j, "type", block_type(r, &e->block));
	if (e->arena_addr)
		json_add_address(j, "arena", e->arena_addr);
	else
		json_add_null(j, "arena");
	json_end_object(j);
}

static void add_json_root(struct json *j, const struct explain_report *r)
{
	const struct root_place *root = &r->explanation->root;
	uint64_t place = r->explanation->path.steps[0].place_addr;

	json_begin_object(j, "root");
	json_add_string(j, "kind", root_words[root->kind]);
	if (root->kind != ROOT_MEMORY)
		json_add_signed(j, "tid", root->tid);
	if (root->kind != ROOT_REGISTER) {
		json_add_address(j, "addr", place);
		json_add_signed(j, "offset_bytes", root->offset);
		add_json_symbol(j, r->symbols, place);
	}
	if (root->mapping)
		add_json_mapping(j, root->mapping);
	json_end_object(j);
}

static void add_json_steps(struct json *j, const struct explain_report *r)
{
	const struct path *path = &r->explanation->path;

	json_add_number(j, "step_count", path->count);
	json_begin_array(j, "steps");
	for (size_t i = 0; i < path->count; i++) {
		const struct path_step *step = &path->steps[i];

		if (!is_step_shown(path, i))
			continue;
		json_begin_object(j, NULL);
		json_add_number(j, "step", i);
		if (i > 0 || !path->is_register)
			json_add_address(j, "place", step->place_addr);
		json_add_address(j, "word", step->word);
		json_add_address(j, "block", step->block.addr);
		json_add_number(j, "block_bytes", step->block.bytes);
		json_add_string(j, "type", block_type(r, &step->block));
		json_end_object(j);
	}
	json_end_array(j);
}

static void add_json_path(struct json *j, const struct explain_report *r)
{
	const struct path *path = &r->explanation->path;

	if (!r->explanation->is_reach_known) {
		json_add_null(j, "is_reachable");
		return;
	}
	json_add_bool(j, "is_reachable", path->is_found);
	if (!path->is_found)
		return;
	add_json_root(j, r);
	add_json_steps(j, r);
}

void explain_report_add_json(struct strbuf *out, const struct explain_report *report)
{
	const struct explanation *e = report->explanation;
	struct json j = json_begin_report(out, "explain");

	json_add_signed(&j, "pid", report->usage->process.pid);
	json_add_string(&j, "comm", report->usage->process.comm);
	json_add_address(&j, "addr", e->addr);
	add_json_mapping(&j, e->mapping);
	add_json_symbol(&j, report->symbols, e->addr);
	json_add_string(&j, "page", e->is_page_known ? page_words[e->page] : NULL);
	json_add_string(&j, "lazyfree", lazyfree_words[e->lazyfree]);
	add_json_block(&j, report);
	add_json_path(&j, report);
	json_end_report(&j);
}
