/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/profile/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/xalloc.h"
#include "store/profile/limits.h"

struct reading {
	struct profile *profile;
	enum profile_metric metric;
	uint64_t line_count, sum;
	struct strbuf *why;
};

static int refuse(struct reading *reading, int err, const char *why)
{
	strbuf_addf(reading->why, "line %" PRIu64 ": %s", reading->line_count, why);
	return err;
}

/*
 * Add a call stack, and return the node of its innermost function. The string `names`
 * is modified.
 */
static uint32_t add_stack(struct profile *profile, char *names)
{
	uint32_t node = 0;
	char *name;

	while ((name = strsep(&names, ";"))) {
		struct profile_frame frame = {
			.function = name,
			.module = PROFILE_NO_MODULE,
		};

		if (name[0] == '\0')
			/*
			 * skip empty names, because some tools write ';' at the start or
			 * end of a stack
			 */
			continue;
		if (strcmp(name, "[cut]") == 0)
			frame = (struct profile_frame){
				.module = PROFILE_NO_MODULE,
				.kind = FRAME_CUT,
			};
		node = profile_add_node(profile, node,
					profile_add_frame(profile, &frame));
	}
	return node;
}

static int read_line(struct reading *reading, const char *line, size_t length)
{
	_cleanup_free_ char *names = NULL;
	uint64_t value;
	char *blank;
	uint32_t node;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0 || line[0] == '#')
		return 0;
	names = xstrndup(line, length);
	blank = strrchr(names, ' ');
	if (!blank || blank == names || num_parse_u64(blank + 1, &value) < 0)
		return refuse(reading, -EBADMSG,
			      "does not end with a number, as in \"main;f 12\"");
	if (value > PROFILE_SUM_MAX - reading->sum)
		return refuse(reading, -EBADMSG, "the sum of all numbers is too large");
	reading->sum += value;
	*blank = '\0';
	node = add_stack(reading->profile, names);
	if (reading->profile->node_count > PROFILE_NODES_MAX)
		return refuse(reading, -EFBIG, "more stacks than can be shown");
	reading->profile->nodes[node].values[reading->metric] += value;
	return 0;
}

int folded_read(const char *text, size_t length, enum profile_metric metric,
		struct profile *profile, struct strbuf *reterr_why)
{
	struct reading reading = { .profile = profile,
				   .metric = metric,
				   .why = reterr_why };
	const char *end = text + length;
	int r = 0;

	profile_begin(profile);
	while (text < end && r == 0) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t line = (size_t)((stop ? stop : end) - text);

		reading.line_count++;
		r = read_line(&reading, text, line);
		text += line + 1;
	}
	if (r < 0)
		return r;
	if (profile->node_count == 1) {
		strbuf_add_text(reterr_why, "has no stacks");
		return -ENODATA;
	}
	profile->known = 1U << metric;
	return 0;
}
