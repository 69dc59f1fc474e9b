/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/speedscope.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "classify/profile/tree.h"
#include "render/table/output.h"

struct speedscope {
	const struct profile *profile;
	struct function_names names;
	struct function_list functions;
	struct call_tree tree;
	uint32_t *path; /* numbers of the names in the current stack, outermost first */
	size_t path_capacity;
};

static void add_text(struct strbuf *out, const char *text)
{
	json_add_string(out, text, strlen(text));
}

/* Append a frame for each name, followed by the one for amounts without a stack. */
static void add_frames(struct strbuf *out, const struct speedscope *s)
{
	const char **files = xcalloc(s->names.count + 1, sizeof(*files));

	for (size_t i = 0; i < s->functions.count; i++)
		files[s->functions.functions[i].name] = s->functions.functions[i].file;
	for (size_t i = 0; i < s->names.count; i++) {
		strbuf_add_text(out, "{\"name\":");
		add_text(out, s->names.names[i]);
		if (files[i]) {
			strbuf_add_text(out, ",\"file\":");
			add_text(out, files[i]);
		}
		strbuf_add_text(out, "},\n");
	}
	strbuf_add_text(out, "{\"name\":\"" PROFILE_NO_STACK "\"}");
	free(files);
}

static void add_sample(struct strbuf *out, const struct speedscope *s, uint32_t depth)
{
	strbuf_add_char(out, '[');
	for (uint32_t i = 1; i <= depth; i++) {
		strbuf_add_text(out, i > 1 ? "," : "");
		strbuf_add_u64(out, s->path[i]);
	}
	if (depth == 0)
		strbuf_add_u64(out, s->names.count);
	strbuf_add_char(out, ']');
}

static void add_samples(struct strbuf *out, struct speedscope *s,
			enum profile_metric metric)
{
	_cleanup_strbuf_ struct strbuf weights = STRBUF_INIT;
	uint32_t i = 0;

	strbuf_add_text(out, ",\"samples\":[");
	do {
		const struct call_node *node = &s->tree.nodes[i];

		s->path = xgrow(s->path, &s->path_capacity, node->depth + 1,
				sizeof(*s->path));
		s->path[node->depth] = node->name;
		if (node->self[metric] > 0) {
			strbuf_add_text(out, weights.length > 0 ? ",\n" : "\n");
			add_sample(out, s, node->depth);
			strbuf_add_text(&weights, weights.length > 0 ? "," : "");
			strbuf_add_u64(&weights, node->self[metric]);
		}
		i = call_tree_next(&s->tree, i);
	} while (i > 0);
	strbuf_add_text(out, "],\n\"weights\":[");
	strbuf_add(out, strbuf_text(&weights), weights.length);
	strbuf_add_char(out, ']');
}

static void add_profile(struct strbuf *out, struct speedscope *s,
			enum profile_metric metric)
{
	strbuf_add_text(out, "{\"type\":\"sampled\",\"name\":");
	add_text(out, profile_metrics[metric].what);
	strbuf_addf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
		    profile_metrics[metric].is_bytes ? "bytes" : "none");
	strbuf_add_u64(out, s->tree.nodes[0].total[metric]);
	add_samples(out, s, metric);
	strbuf_add_char(out, '}');
}

void speedscope_add(struct strbuf *out, const struct profile *profile,
		    enum profile_metric shown)
{
	const struct call_tree_options options = { .is_by_name = true };
	struct speedscope s = { .profile = profile };
	int count = 0, active = 0;

	function_names_init(&s.names, profile);
	function_list_init(&s.functions, profile, &s.names, shown);
	call_tree_init(&s.tree, profile, &s.names, &options);
	strbuf_add_text(
		out,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"memstate " PACKAGE_VERSION "\",\n\"name\":");
	add_text(out, profile->command ? profile->command : "memstate count");
	strbuf_add_text(out, ",\n\"shared\":{\"frames\":[\n");
	add_frames(out, &s);
	strbuf_add_text(out, "]},\n\"profiles\":[");
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		if (!(profile->known & 1U << m))
			continue;
		strbuf_add_text(out, count > 0 ? ",\n" : "\n");
		if (m == (int)shown)
			active = count;
		add_profile(out, &s, (enum profile_metric)m);
		count++;
	}
	strbuf_addf(out, "],\n\"activeProfileIndex\":%d}\n", active);
	free(s.path);
	call_tree_release(&s.tree);
	function_list_release(&s.functions);
	function_names_release(&s.names);
}
