/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is read as a cgroup path and as a container engine's JSON. Each JSON
 * value must lie within the text.
 */
#include "config.h"

#include <string.h>

#include "base/json_read.h"
#include "classify/cgroup/container_names.h"
#include "fuzz.h"

#define DEPTH_MAX 8

static void read_all(struct json_part part, int depth)
{
	struct strbuf out = STRBUF_INIT;
	struct json_part value;
	size_t at = 0, before;

	if (json_read_text(part, &out) == 0)
		CHECK(out.length <= part.length);
	strbuf_release(&out);
	if (json_find_member(part, "Name", &value) == 0)
		CHECK(value.length > 0 && value.text >= part.text &&
		      value.text + value.length <= part.text + part.length);
	if (depth == DEPTH_MAX)
		return;
	for (before = at; json_next_element(part, &at, &value) == 0; before = at) {
		CHECK(at > before && at <= part.length);
		CHECK(value.length > 0 && value.text >= part.text &&
		      value.text + value.length <= part.text + part.length);
		read_all(value, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *names[CGROUP_NAME_COUNT_] = { NULL };
	struct strbuf path = STRBUF_INIT;

	if (size > 20000)
		return 0; /* nested arrays are read once for each level */
	strbuf_add(&path, data, size);
	container_names_find(strbuf_text(&path), names);
	CHECK(!names[CGROUP_NAME_CONTAINER_ID] ||
	      strlen(names[CGROUP_NAME_CONTAINER_ID]) == CONTAINER_ID_LENGTH);
	CHECK(!names[CGROUP_NAME_QOS] == !names[CGROUP_NAME_POD_UID]);
	container_names_parse_kubelet(strbuf_text(&path), names);
	cgroup_names_clear(names);
	strbuf_release(&path);
	/* an exact copy, so that a sanitizer detects a read past its end */
	strbuf_add(&path, data, size);
	read_all((struct json_part){ strbuf_text(&path), path.length }, 0);
	strbuf_release(&path);
	return 0;
}
