/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count_profile.h"

#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/count_show.h"
#include "cmd/message.h"
#include "store/profile_file.h"

int count_profile_replay(const struct options *o)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	struct profile profile;
	int status;

	if (profile_load(o->count.replay, o->metric, &profile, &why) < 0) {
		message("%s: %s", o->count.replay, strbuf_text(&why));
		return EXIT_FAILED;
	}
	status = count_show_profile(o, &profile);
	profile_release(&profile);
	return status;
}
