/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/profile/transform.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/profile/transform_regex.h"

#define FRAME_NAME_SIZE 256 /* size of buffers for generated names */

uint64_t profile_transform_limit_ns = 20 * NS_PER_S;

/* Result of applying a rule to a frame of the profile. */
struct frame_change {
	bool is_matched;
	bool is_hidden;
	/*
	 * new name of the frame, stored in the new profile; NULL: the name does
	 * not change
	 */
	const char *name;
};

/* Result of applying a rule to a node of the profile. */
struct node_change {
	/* true if the rule matches the frame of the node or of one of its callers */
	bool has_match;
	/*
	 * true if the node is in a stack that the rule keeps: the stack ends at this node
	 * or at one of its descendants, and does not start below this node
	 */
	bool is_needed;
	/* new name of the node's frame; NULL: the name does not change */
	const char *name;
	uint32_t number; /* number of the node in the new profile */
};

/* State while one transformation rule is applied to one profile. */
struct pass {
	const struct profile *from;
	struct profile *to;
	const struct transform_rule *rule;
	regex_t regex;
	/* CPU time of the thread at which the transformation times out */
	uint64_t end_ns;
	struct frame_change *frames;
	struct node_change *nodes;
	struct transform_error *reterr;
};

/*
 * Append the replacement text of a rule: "\1" to "\9" stand for the matched groups, "\0"
 * for the whole match.
 */
static void add_replacement(struct strbuf *out, const char *text, const char *name,
			    const regmatch_t parts[TRANSFORM_PARTS_MAX])
{
	for (const char *at = text; *at; at++) {
		const regmatch_t *part;

		if (*at != '\\') {
			strbuf_add_char(out, *at);
			continue;
		}
		at++;
		if (*at == '\\') {
			strbuf_add_char(out, '\\');
			continue;
		}
		part = &parts[*at - '0'];
		if (part->rm_so >= 0)
			strbuf_add(out, name + part->rm_so,
				   (size_t)(part->rm_eo - part->rm_so));
	}
}

/*
 * Return true if the CPU time limit is exceeded. A search takes time proportional to the
 * square of the name's length, and a rule may search a name many times.
 */
static bool is_out_of_time(const struct pass *p)
{
	return clock_thread_cpu_ns() >= p->end_ns;
}

/*
 * Replace all matches of the rule in a name, and store the new name in *out. Return true
 * if there was a match.
 */
static bool replace_name(const struct pass *p, const char *name, struct strbuf *out)
{
	regmatch_t parts[TRANSFORM_PARTS_MAX];
	size_t at = 0;

	strbuf_clear(out);
	while (out->length <= TRANSFORM_NAME_MAX && !is_out_of_time(p) &&
	       transform_regex_find(&p->regex, name, at, parts)) {
		strbuf_add(out, name + at, (size_t)parts[0].rm_so - at);
		add_replacement(out, p->rule->text, name, parts);
		at = (size_t)parts[0].rm_eo;
	}
	if (at == 0)
		return false;
	strbuf_add_text(out, name + at);
	return true;
}

static int change_frame(struct pass *p, const char *name, struct frame_change *ret)
{
	_cleanup_strbuf_ struct strbuf made = STRBUF_INIT;
	regmatch_t parts[TRANSFORM_PARTS_MAX];

	*ret = (struct frame_change){ .is_matched = false };
	if (strlen(name) > TRANSFORM_NAME_MAX)
		return 0;
	if (p->rule->kind != TRANSFORM_REPLACE) {
		ret->is_matched = transform_regex_find(&p->regex, name, 0, parts);
		ret->is_hidden = ret->is_matched && p->rule->kind == TRANSFORM_HIDE;
		return 0;
	}
	if (!replace_name(p, name, &made))
		return 0;
	if (made.length > TRANSFORM_NAME_MAX) {
		snprintf(p->reterr->why, sizeof(p->reterr->why),
			 "'replace %.60s' makes a name longer than %d bytes",
			 p->rule->pattern, TRANSFORM_NAME_MAX);
		return -E2BIG;
	}
	ret->is_matched = true;
	ret->is_hidden = made.length == 0;
	ret->name = profile_string(p->to, strbuf_text(&made));
	return 0;
}

struct named_frame {
	const char *name;
	uint32_t number;
};

static int compare_names(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct named_frame *)a)->name;
	uintptr_t y = (uintptr_t)((const struct named_frame *)b)->name;

	return (x > y) - (x < y);
}

/*
 * Apply the rule to the names of all frames. Frames that differ only in their line number
 * share one name string, so each name is processed only once.
 */
static int change_frames(struct pass *p)
{
	size_t count = p->from->frame_count;
	struct named_frame *order = xcalloc(count + 1, sizeof(*order));
	char buffer[FRAME_NAME_SIZE];
	int r = 0;

	for (size_t i = 0; i < count; i++)
		order[i] =
			(struct named_frame){ p->from->frames[i].function, (uint32_t)i };
	qsort(order, count, sizeof(*order), compare_names);
	for (size_t i = 0; i < count && r == 0 && !is_out_of_time(p); i++) {
		const struct profile_frame *frame = &p->from->frames[order[i].number];

		if (i > 0 && order[i].name && order[i].name == order[i - 1].name &&
		    frame->kind == p->from->frames[order[i - 1].number].kind)
			p->frames[order[i].number] = p->frames[order[i - 1].number];
		else
			r = change_frame(p,
					 profile_frame_name(p->from, frame, buffer,
							    sizeof(buffer)),
					 &p->frames[order[i].number]);
	}
	free(order);
	if (r == 0 && is_out_of_time(p)) {
		snprintf(
			p->reterr->why, sizeof(p->reterr->why),
			"the pattern '%.60s' takes too long to search for in these names",
			p->rule->pattern);
		r = -ETIMEDOUT;
	}
	return r;
}

/* Return true if the rule keeps the stack that ends at this node. */
static bool is_kept(const struct pass *p, uint32_t node)
{
	if (p->rule->kind == TRANSFORM_FILTER)
		return p->nodes[node].has_match;
	if (p->rule->kind == TRANSFORM_REMOVE)
		return !p->nodes[node].has_match;
	return true;
}

/* Return true if the rule makes stacks start at this node. */
static bool is_first(const struct pass *p, uint32_t node)
{
	const struct profile_node *n = &p->from->nodes[node];

	return p->rule->kind == TRANSFORM_FROM && p->frames[n->frame].is_matched &&
	       !p->nodes[n->parent].has_match;
}

static void find_needed(struct pass *p)
{
	const struct profile_node *nodes = p->from->nodes;

	for (uint32_t i = 1; i < p->from->node_count; i++)
		p->nodes[i].has_match = p->nodes[nodes[i].parent].has_match ||
					p->frames[nodes[i].frame].is_matched;
	for (uint32_t i = (uint32_t)p->from->node_count; i-- > 1;) {
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			p->nodes[i].is_needed |= nodes[i].values[m] > 0 && is_kept(p, i);
		if (p->nodes[i].is_needed && !is_first(p, i))
			p->nodes[nodes[i].parent].is_needed = true;
	}
}

static uint32_t add_frame(struct pass *p, uint32_t number)
{
	struct profile_frame frame = p->from->frames[number];

	if (p->frames[number].name) {
		frame.function = p->frames[number].name;
		frame.kind = FRAME_CODE;
	}
	return profile_add_frame(p->to, &frame);
}

static void place_node(struct pass *p, uint32_t i)
{
	const struct profile_node *node = &p->from->nodes[i];
	const struct frame_change *frame = &p->frames[node->frame];
	const struct node_change *parent = &p->nodes[node->parent];
	struct node_change *own = &p->nodes[i];
	bool is_beyond = p->rule->kind == TRANSFORM_TO && parent->has_match;
	/*
	 * compare addresses instead of contents, because a profile stores equal strings
	 * only once
	 */
	bool is_merged = frame->name && frame->name == parent->name;

	own->name = frame->name;
	own->number = parent->number;
	if (frame->is_hidden)
		own->name = parent->name;
	else if (!is_beyond && !is_merged)
		own->number = profile_add_node(p->to, is_first(p, i) ? 0 : parent->number,
					       add_frame(p, node->frame));
}

static void place_nodes(struct pass *p)
{
	const struct profile *from = p->from;

	for (uint32_t i = 0; i < from->node_count; i++) {
		if (i > 0 && p->nodes[i].is_needed)
			place_node(p, i);
		for (int m = 0; m < PROFILE_METRIC_COUNT_; m++)
			if (is_kept(p, i))
				p->to->nodes[p->nodes[i].number].values[m] +=
					from->nodes[i].values[m];
	}
}

static int apply(struct pass *p)
{
	int r = transform_regex_compile(p->rule->pattern, &p->regex, p->reterr);

	if (r < 0)
		return r;
	p->frames = xcalloc(p->from->frame_count + 1, sizeof(*p->frames));
	p->nodes = xcalloc(p->from->node_count + 1, sizeof(*p->nodes));
	profile_init_like(p->to, p->from);
	r = change_frames(p);
	if (r == 0) {
		find_needed(p);
		place_nodes(p);
	}
	regfree(&p->regex);
	free(p->frames);
	free(p->nodes);
	if (r < 0)
		profile_release(p->to);
	return r;
}

int profile_transform(const struct profile *profile, const struct transform_list *list,
		      struct profile *ret, struct transform_error *reterr)
{
	const uint64_t end_ns = clock_thread_cpu_ns() + profile_transform_limit_ns;
	/*
	 * the first rule reads `profile`; each later rule reads the result of the
	 * previous rule from one of these profiles, and writes the other
	 */
	struct profile made[2] = { { 0 } };

	assert(list->count > 0);
	reterr->line = 0;
	for (size_t i = 0; i < list->count; i++) {
		struct pass pass = {
			.from = i == 0 ? profile : &made[(i - 1) % 2],
			.to = &made[i % 2],
			.rule = &list->rules[i],
			.end_ns = end_ns,
			.reterr = reterr,
		};
		int r;

		assert(pass.rule->kind != TRANSFORM_SET);
		r = apply(&pass);
		if (i > 0)
			profile_release(&made[(i - 1) % 2]);
		if (r < 0)
			return r;
	}
	*ret = made[(list->count - 1) % 2];
	return 0;
}
