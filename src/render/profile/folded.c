/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/profile/folded.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "classify/profile/tree.h"

static void add_name(struct strbuf *out, const char *name)
{
	size_t begin = out->length;

	text_add_printable(out, name, strlen(name), false);
	if (out->length == begin)
		strbuf_add_text(out, "[no name]");
	for (size_t i = begin; i < out->length; i++)
		if (out->text[i] == ';')
			out->text[i] = ':';
}

static void add_line(struct strbuf *out, const struct strbuf *path, uint64_t value)
{
	if (value == 0)
		return;
	strbuf_add(out, path->text, path->length);
	strbuf_add_char(out, ' ');
	strbuf_add_u64(out, value);
	strbuf_add_char(out, '\n');
}

void folded_add(struct strbuf *out, const struct profile *profile,
		enum profile_metric metric)
{
	const struct call_tree_options options = { .metric = metric, .is_by_name = true };
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct function_names names;
	struct call_tree tree;
	/* length of `path` at each depth */
	size_t *ends = NULL;
	size_t capacity = 0;

	function_names_init(&names, profile);
	call_tree_init(&tree, profile, &names, &options);
	strbuf_add_text(&path, PROFILE_NO_STACK);
	add_line(out, &path, tree.nodes[0].self[metric]);
	for (uint32_t i = call_tree_next(&tree, 0); i; i = call_tree_next(&tree, i)) {
		const struct call_node *node = &tree.nodes[i];

		ends = xgrow(ends, &capacity, node->depth + 1, sizeof(*ends));
		strbuf_truncate(&path, node->depth > 1 ? ends[node->depth - 1] : 0);
		if (node->depth > 1)
			strbuf_add_char(&path, ';');
		add_name(&path, names.names[node->name]);
		ends[node->depth] = path.length;
		add_line(out, &path, node->self[metric]);
	}
	free(ends);
	call_tree_release(&tree);
	function_names_release(&names);
}
