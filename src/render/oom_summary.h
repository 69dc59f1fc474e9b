/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oom_summary - many kills of a log in a few lines: when, whose limits, which victims.
 */
#ifndef MS_RENDER_OOM_SUMMARY_H
#define MS_RENDER_OOM_SUMMARY_H

#include "base/strbuf.h"
#include "model/oom_kill.h"
#include "render/oom_explain.h"

/* From this many kills on a summary comes first. */
#define OOM_SUMMARY_LEAST 2

void oom_summary_add_text(struct strbuf *out, const struct oom_kill *const *kills, size_t count,
			  const struct oom_explain_options *options);

/* An object with all limits and victims, however many they are. */
void oom_summary_add_json(struct strbuf *out, const struct oom_kill_list *list,
			  const struct oom_kill *const *kills, size_t count);

#endif
