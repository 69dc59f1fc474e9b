/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a kernel log, to which any user may have written: OOM reports,
 * and memstate's report on them.
 */
#include "config.h"

#include <string.h>

#include "base/units.h"
#include "classify/oom/verdict.h"
#include "fuzz.h"
#include "proc/kmsg/oom.h"
#include "render/oom/explain.h"

static void check_text(const char *text, size_t size)
{
	CHECK(memchr(text, '\0', size) != NULL);
}

static void check_task(const struct oom_task *task)
{
	check_text(task->name, sizeof(task->name));
	CHECK(task->pid > 0);
}

static void check_kill(const struct oom_kill *k)
{
	check_text(k->invoker, sizeof(k->invoker));
	check_text(k->limit_path, sizeof(k->limit_path));
	check_text(k->victim_path, sizeof(k->victim_path));
	CHECK(k->task_count <= k->task_capacity);
	CHECK(k->victim.pid >= 0);
	if (k->victim.pid != 0) {
		check_task(&k->victim);
		CHECK(k->killed_count > 0);
	}
	for (size_t i = 0; i < k->task_count; i++)
		check_task(&k->tasks[i]);
}

/* Check that the report is text which is safe for terminals and valid in JSON. */
static void check_said(const struct oom_kill *k)
{
	const struct oom_explain_options options = { .top = 3, .table.ascii = true };
	struct strbuf out = STRBUF_INIT;
	struct oom_evidence e;

	oom_evidence_init(&e);
	oom_evidence_set_kill(&e, k);
	CHECK(oom_verdict_find(&e) < OOM_VERDICT_COUNT_);
	CHECK(e.end == OOM_END_KILLED);
	oom_explain_add_text(&out, &e, &options);
	for (size_t i = 0; i < out.length; i++)
		CHECK(out.text[i] == '\n' || (out.text[i] >= 0x20 && out.text[i] < 0x7f));
	strbuf_clear(&out);
	oom_explain_add_json(&out, &e, NULL);
	CHECK(out.length > 2 && out.text[out.length - 1] == '\n');
	for (size_t i = 0; i + 1 < out.length; i++)
		CHECK((unsigned char)out.text[i] >= 0x20);
	strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oom_kill_list list = OOM_KILL_LIST_INIT;

	kmsg_oom_parse((const char *)data, size, &list);
	CHECK(list.count <= size);
	for (size_t i = 0; i < list.count; i++) {
		check_kill(&list.items[i]);
		if (i < 4)
			check_said(&list.items[i]);
	}
	oom_kill_list_release(&list);
	return 0;
}
