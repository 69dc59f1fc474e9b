/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary - summarise the OOM kills in a log: when they happened, which limits were
 * reached, and which processes were killed.
 */
#ifndef MS_RENDER_OOM_SUMMARY_H
#define MS_RENDER_OOM_SUMMARY_H

#include "base/strbuf.h"
#include "model/oom_kill.h"
#include "render/oom/explain.h"

/* Minimum number of kills for a report to begin with a summary. */
#define OOM_SUMMARY_MIN 2

/* Append the summary as text, with at most options->top rows per list. */
void oom_summary_add_text(struct strbuf *out, const struct oom_kill *const *kills,
			  size_t count, const struct oom_explain_options *options);

/* Append a JSON object with the complete lists of all limits and all victims. */
void oom_summary_add_json(struct strbuf *out, const struct oom_kill_list *list,
			  const struct oom_kill *const *kills, size_t count);

#endif
