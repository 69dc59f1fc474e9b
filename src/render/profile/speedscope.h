/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope - write a profile in the JSON format of speedscope, a profile viewer for
 * browsers: https://www.speedscope.app/file-format-schema.json
 */
#ifndef MS_RENDER_PROFILE_SPEEDSCOPE_H
#define MS_RENDER_PROFILE_SPEEDSCOPE_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * Append one sampled profile for each known metric. The viewer first shows the profile
 * for the metric `shown`. Equal profiles produce equal text.
 */
void speedscope_add(struct strbuf *out, const struct profile *profile,
		    enum profile_metric shown);

#endif
