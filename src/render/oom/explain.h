/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain - explain, as text or JSON, why a process was killed or ended. */
#ifndef MS_RENDER_OOM_EXPLAIN_H
#define MS_RENDER_OOM_EXPLAIN_H

#include "base/strbuf.h"
#include "classify/oom/evidence.h"
#include "render/table/output.h"

struct oom_explain_options {
	size_t top; /* maximum number of tasks in the report */
	struct table_options table;
};

/* Append the explanation as text. */
void oom_explain_add_text(struct strbuf *out, const struct oom_evidence *evidence,
			  const struct oom_explain_options *options);

/*
 * Append the explanation as one line of JSON, which ends with "\n". `summary` is a JSON
 * value about all kills in the log, or NULL.
 */
void oom_explain_add_json(struct strbuf *out, const struct oom_evidence *evidence,
			  const char *summary);

#endif
