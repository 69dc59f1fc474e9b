/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope - a profile in the JSON of speedscope, which is a viewer in a browser:
 * https://www.speedscope.app/file-format-schema.json
 */
#ifndef MS_RENDER_SPEEDSCOPE_H
#define MS_RENDER_SPEEDSCOPE_H

#include "base/strbuf.h"
#include "model/profile.h"

/*
 * One sampled profile for each metric that is known; `shown` is the one that the viewer
 * begins with. The same profile is the same text.
 */
void speedscope_add(struct strbuf *out, const struct profile *profile, enum profile_metric shown);

#endif
