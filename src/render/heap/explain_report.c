/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/heap/explain_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/table/output.h"

/*
 * Maximum number of steps shown: of a longer path, only its first and last steps appear.
 */
#define STEPS_SHOWN 16

static const char *const page_words[] = {
	[PAGE_ABSENT] = "absent",
	[PAGE_RESIDENT] = "resident",
	[PAGE_ZEROS] = "zeros",
	[PAGE_SWAPPED] = "swapped",
};

static const char *const page_texts[] = {
	[PAGE_ABSENT] = "not there: never touched, or given back",
	[PAGE_RESIDENT] = "resident",
	[PAGE_ZEROS] = "the shared page of zeros: read, never written, no part of Rss",
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
	uint32_t type = 0;

	if (r->types && r->blocks && block->state == BLOCK_LIVE)
		type = types_of_block(r->types, r->blocks, block);
	return type ? types_name(r->types, type) : NULL;
}

static bool is_step_shown(const struct path *path, size_t i)
{
	return i < STEPS_SHOWN / 2 || path->count - i <= STEPS_SHOWN / 2;
}

/* The report as text. */

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
		    e->is_page_known ? page_texts[e->page] : "not known");
	if (e->page == PAGE_RESIDENT && e->lazyfree == LAZYFREE_YES)
		strbuf_add_text(out, ", LazyFree: given back, not taken yet");
	if (e->page == PAGE_RESIDENT && e->lazyfree == LAZYFREE_MAYBE)
		strbuf_add_text(out, ", perhaps LazyFree: some pages of the mapping are");
	strbuf_add_char(out, '\n');
}

static void add_block(struct strbuf *out, const struct explain_report *r)
{
	const struct explanation *e = r->explanation;
	const char *type;

	if (r->problem)
		strbuf_addf(out, "  block    not known: %s\n", r->problem);
	else if (!e->is_heap)
		strbuf_add_text(out, "  block    none: it is not malloc's memory\n");
	else if (!e->has_block)
		strbuf_addf(out, "  block    none: %s\n", e->part);
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
	strbuf_addf(out, "  reached  by %zu address%s, from ", e->path.count,
		    e->path.count == 1 ? "" : "es");
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

/* The report as JSON. */

static void add_json_addr(struct strbuf *out, const char *key, uint64_t addr)
{
	strbuf_addf(out, ",\"%s\":\"0x%" PRIx64 "\"", key, addr);
}

static void add_json_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, ",\"%s\":", key);
	if (text)
		json_add_string(out, text, strlen(text));
	else
		strbuf_add_text(out, "null");
}

static void add_json_symbol(struct strbuf *out, struct symbols *symbols, uint64_t addr)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	add_json_text(out, "symbol",
		      symbols_add_place(symbols, addr, &text) ? strbuf_text(&text)
							      : NULL);
}

static void add_json_mapping(struct strbuf *out, const struct mapping *m)
{
	char perms[5];

	strbuf_addf(out,
		    ",\"mapping\":{\"start_addr\":\"0x%" PRIx64
		    "\",\"end_addr\":\"0x%" PRIx64 "\",\"perms\":\"%s\",\"name\":",
		    m->start_addr, m->end_addr, mapping_format_perms(m, perms));
	json_add_string(out, m->name, m->name_length);
	strbuf_add_char(out, '}');
}

static void add_json_block(struct strbuf *out, const struct explain_report *r)
{
	static const char *const states[] = {
		[BLOCK_LIVE] = "live",
		[BLOCK_CACHED] = "cached",
		[BLOCK_FREE] = "free",
		[BLOCK_OWN] = "own",
	};
	const struct explanation *e = r->explanation;

	add_json_text(out, "problem", r->problem);
	strbuf_add_text(out, ",\"block\":");
	if (!e->has_block) {
		strbuf_add_text(out, "null");
		return;
	}
	strbuf_addf(out,
		    "{\"addr\":\"0x%" PRIx64 "\",\"block_bytes\":%" PRIu64
		    ",\"offset_bytes\":%" PRIu64 ",\"state\":\"%s\"",
		    e->block.addr, e->block.bytes, e->addr - e->block.addr,
		    states[e->block.state]);
	add_json_text(out, "part", e->part);
	if (e->list_chunk_bytes > 0)
		strbuf_addf(out, ",\"list_chunk_bytes\":%" PRIu64, e->list_chunk_bytes);
	else
		strbuf_add_text(out, ",\"list_chunk_bytes\":null");
	add_json_text(out, "type", block_type(r, &e->block));
	if (e->arena_addr)
		add_json_addr(out, "arena", e->arena_addr);
	else
		strbuf_add_text(out, ",\"arena\":null");
	strbuf_add_char(out, '}');
}

static void add_json_root(struct strbuf *out, const struct explain_report *r)
{
	const struct root_place *root = &r->explanation->root;
	uint64_t place = r->explanation->path.steps[0].place_addr;

	strbuf_addf(out, ",\"root\":{\"kind\":\"%s\"", root_words[root->kind]);
	if (root->kind != ROOT_MEMORY)
		strbuf_addf(out, ",\"tid\":%d", root->tid);
	if (root->kind != ROOT_REGISTER) {
		add_json_addr(out, "addr", place);
		strbuf_addf(out, ",\"offset_bytes\":%" PRId64, root->offset);
		add_json_symbol(out, r->symbols, place);
	}
	if (root->mapping)
		add_json_mapping(out, root->mapping);
	strbuf_add_char(out, '}');
}

static void add_json_path(struct strbuf *out, const struct explain_report *r)
{
	const struct path *path = &r->explanation->path;

	if (!r->explanation->is_reach_known) {
		strbuf_add_text(out, ",\"is_reachable\":null");
		return;
	}
	strbuf_addf(out, ",\"is_reachable\":%s", path->is_found ? "true" : "false");
	if (!path->is_found)
		return;
	add_json_root(out, r);
	strbuf_addf(out, ",\"step_count\":%zu,\"steps\":[", path->count);
	for (size_t i = 0; i < path->count; i++) {
		const struct path_step *step = &path->steps[i];

		if (!is_step_shown(path, i))
			continue;
		strbuf_addf(out, "%s{\"step\":%zu", i > 0 ? "," : "", i);
		if (i > 0 || !path->is_register)
			add_json_addr(out, "place", step->place_addr);
		add_json_addr(out, "word", step->word);
		add_json_addr(out, "block", step->block.addr);
		strbuf_addf(out, ",\"block_bytes\":%" PRIu64, step->block.bytes);
		add_json_text(out, "type", block_type(r, &step->block));
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

void explain_report_add_json(struct strbuf *out, const struct explain_report *report)
{
	const struct explanation *e = report->explanation;

	strbuf_addf(
		out,
		"{\"memstate\":{\"version\":\"%s\",\"schema\":1},\"pid\":%d,\"comm\":",
		PACKAGE_VERSION, report->usage->process.pid);
	json_add_string(out, report->usage->process.comm,
			strlen(report->usage->process.comm));
	add_json_addr(out, "addr", e->addr);
	add_json_mapping(out, e->mapping);
	add_json_symbol(out, report->symbols, e->addr);
	add_json_text(out, "page", e->is_page_known ? page_words[e->page] : NULL);
	add_json_text(out, "lazyfree", lazyfree_words[e->lazyfree]);
	add_json_block(out, report);
	add_json_path(out, report);
	strbuf_add_text(out, "}\n");
}
