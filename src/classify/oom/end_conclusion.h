/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * end_conclusion - the sentences that open the explanation of a kill or another end of a
 * process, and the command to run next. Pure.
 */
#ifndef MS_CLASSIFY_OOM_END_CONCLUSION_H
#define MS_CLASSIFY_OOM_END_CONCLUSION_H

#include "classify/oom/evidence.h"
#include "model/conclusion.h"

/* Append the time as in the log, if it cannot be converted to UTC. "" if unknown. */
void oom_time_add(struct strbuf *out, const struct oom_time *time);

/*
 * Add which process ended, when, and at which limit, and the verdict. With `ascii`,
 * names are ASCII.
 */
void oom_conclude_end(struct conclusion *c, const struct oom_evidence *evidence,
		      bool ascii);

/*
 * Set the command that shows more about this end in the recording. Set none without a
 * recording.
 */
void oom_conclude_end_next(struct conclusion *c, const struct oom_evidence *evidence,
			   const char *recording);

#endif
