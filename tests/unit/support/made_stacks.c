/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

static void add_stack(struct profile *p, char *line)
{
	uint32_t node = 0;
	char *end = line + strlen(line), *name;
	uint64_t numbers[2] = { 0, 0 };
	int count = 0;

	/* parse from the end, because names may contain blanks */
	while (count < 2) {
		char *blank = strrchr(line, ' ');

		if (!blank || strspn(blank + 1, "0123456789") != strlen(blank + 1))
			break;
		numbers[count++] = strtoull(blank + 1, NULL, 10);
		*blank = '\0';
		end = blank;
	}
	*end = '\0';
	while ((name = strsep(&line, ";"))) {
		struct profile_frame frame = { .function = name,
					       .module = PROFILE_NO_MODULE };

		if (strcmp(name, "[cut]") == 0)
			frame = (struct profile_frame){ .module = PROFILE_NO_MODULE,
							.kind = FRAME_CUT };
		node = profile_add_node(p, node, profile_add_frame(p, &frame));
	}
	p->nodes[node].values[PROFILE_ALLOCATIONS] += numbers[count - 1];
	if (count > 1) {
		p->nodes[node].values[PROFILE_BYTES] += numbers[0];
		p->known |= 1U << PROFILE_BYTES;
	}
}

void made_stacks(struct profile *ret, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *rest = copy, *line;

	profile_init(ret);
	ret->known = 1U << PROFILE_ALLOCATIONS;
	while ((line = strsep(&rest, "\n")))
		if (line[0] != '\0')
			add_stack(ret, line);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_path(struct strbuf *out, const struct profile *p, uint32_t node)
{
	char buffer[256];

	if (p->nodes[node].parent > 0) {
		add_path(out, p, p->nodes[node].parent);
		strbuf_add_char(out, ';');
	}
	strbuf_add_text(out, profile_frame_name(p, &p->frames[p->nodes[node].frame],
						buffer, sizeof(buffer)));
}

char *made_stacks_text(const struct profile *profile, enum profile_metric metric)
{
	struct strbuf out = STRBUF_INIT;
	char **lines = xcalloc(profile->node_count + 1, sizeof(*lines));
	size_t count = 0;

	for (uint32_t i = 0; i < profile->node_count; i++) {
		struct strbuf line = STRBUF_INIT;

		if (profile->nodes[i].values[metric] == 0)
			continue;
		if (i > 0)
			add_path(&line, profile, i);
		strbuf_addf(&line, " %" PRIu64, profile->nodes[i].values[metric]);
		lines[count++] = strbuf_take(&line);
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++) {
		strbuf_addf(&out, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return strbuf_take(&out);
}
