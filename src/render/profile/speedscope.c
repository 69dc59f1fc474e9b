/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/speedscope.h"

#include <stdlib.h>

#include "base/json_write.h"
#include "base/xalloc.h"
#include "classify/profile/tree.h"

struct speedscope {
	const struct profile *profile;
	struct function_names names;
	struct function_list functions;
	struct call_tree tree;
	/* numbers of the function names in the current stack, outermost function first */
	uint32_t *path;
	size_t path_capacity;
};

/* Append a frame for each function name, and a frame for amounts without a stack. */
static void add_frames(struct json *j, const struct speedscope *s)
{
	const char **files = xcalloc(s->names.count + 1, sizeof(*files));

	for (size_t i = 0; i < s->functions.count; i++)
		files[s->functions.functions[i].name] = s->functions.functions[i].file;
	json_begin_array(j, "frames");
	for (size_t i = 0; i < s->names.count; i++) {
		json_break_line(j);
		json_begin_object(j, NULL);
		json_add_string(j, "name", s->names.names[i]);
		if (files[i])
			json_add_string(j, "file", files[i]);
		json_end_object(j);
	}
	json_break_line(j);
	json_begin_object(j, NULL);
	json_add_string(j, "name", PROFILE_NO_STACK);
	json_end_object(j);
	json_end_array(j);
	free(files);
}

static void add_sample(struct json *j, const struct speedscope *s, uint32_t depth)
{
	json_break_line(j);
	json_begin_array(j, NULL);
	for (uint32_t i = 1; i <= depth; i++)
		json_add_number(j, NULL, s->path[i]);
	if (depth == 0)
		json_add_number(j, NULL, s->names.count);
	json_end_array(j);
}

static void add_samples(struct json *j, struct speedscope *s, enum profile_metric metric)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct json weights = json_begin(&text);
	uint32_t i = 0;

	json_begin_array(j, "samples");
	json_begin_array(&weights, NULL);
	do {
		const struct call_node *node = &s->tree.nodes[i];

		s->path = xgrow(s->path, &s->path_capacity, node->depth + 1,
				sizeof(*s->path));
		s->path[node->depth] = node->name;
		if (node->self[metric] > 0) {
			add_sample(j, s, node->depth);
			json_add_number(&weights, NULL, node->self[metric]);
		}
		i = call_tree_next(&s->tree, i);
	} while (i > 0);
	json_end_array(&weights);
	json_end_array(j);
	json_break_line(j);
	json_add_raw(j, "weights", text.text);
}

static void add_profile(struct json *j, struct speedscope *s, enum profile_metric metric)
{
	json_break_line(j);
	json_begin_object(j, NULL);
	json_add_string(j, "type", "sampled");
	json_add_string(j, "name", profile_metrics[metric].what);
	json_add_string(j, "unit", profile_metrics[metric].is_bytes ? "bytes" : "none");
	json_add_number(j, "startValue", 0);
	json_add_number(j, "endValue", s->tree.nodes[0].total[metric]);
	add_samples(j, s, metric);
	json_end_object(j);
}

/*
 * Append a speedscope profile for each known metric, and the index of the profile that
 * the viewer shows first.
 */
static void add_profiles(struct json *j, struct speedscope *s, enum profile_metric shown)
{
	int count = 0, active = 0;

	json_break_line(j);
	json_begin_array(j, "profiles");
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		if (!(s->profile->known & 1U << m))
			continue;
		if (m == (int)shown)
			active = count;
		add_profile(j, s, (enum profile_metric)m);
		count++;
	}
	json_end_array(j);
	json_break_line(j);
	json_add_signed(j, "activeProfileIndex", active);
}

static void add_document(struct json *j, struct speedscope *s, enum profile_metric shown)
{
	const char *command = s->profile->command;

	json_begin_object(j, NULL);
	json_add_string(j, "$schema",
			"https://www.speedscope.app/file-format-schema.json");
	json_break_line(j);
	json_add_string(j, "exporter", "memstate " PACKAGE_VERSION);
	json_break_line(j);
	json_add_string(j, "name", command ? command : "memstate count");
	json_break_line(j);
	json_begin_object(j, "shared");
	add_frames(j, s);
	json_end_object(j);
	add_profiles(j, s, shown);
	json_end_object(j);
}

void speedscope_add(struct strbuf *out, const struct profile *profile,
		    enum profile_metric shown)
{
	const struct call_tree_options options = { .is_by_name = true };
	struct speedscope s = { .profile = profile };
	struct json j = json_begin(out);

	function_names_init(&s.names, profile);
	function_list_init(&s.functions, profile, &s.names, shown);
	call_tree_init(&s.tree, profile, &s.names, &options);
	add_document(&j, &s, shown);
	strbuf_add_char(out, '\n');
	free(s.path);
	call_tree_release(&s.tree);
	function_list_release(&s.functions);
	function_names_release(&s.names);
}
