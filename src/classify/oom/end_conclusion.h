/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * end_conclusion - write the first sentences of the report on why a process ended, and
 * suggest the command to run next. The functions are pure.
 */
#ifndef MS_CLASSIFY_OOM_END_CONCLUSION_H
#define MS_CLASSIFY_OOM_END_CONCLUSION_H

#include "classify/oom/evidence.h"
#include "model/conclusion.h"

/*
 * Append the time in UTC or, if it cannot be converted, as printed in the kernel log.
 * Append nothing if the time is unknown.
 */
void oom_time_add(struct strbuf *out, const struct oom_time *time);

/*
 * Add sentences about which process ended, when, at which limit, and why. If `ascii` is
 * set, convert names to ASCII.
 */
void oom_conclude_end(struct conclusion *c, const struct oom_evidence *evidence,
		      bool ascii);

/*
 * Suggest a command that shows more details about the end of the process. Suggest nothing
 * without a recording.
 */
void oom_conclude_end_next(struct conclusion *c, const struct oom_evidence *evidence,
			   const char *recording);

#endif
