/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/options_count.h"

bool *options_count_flag(struct count_options *count, enum option_id id)
{
	switch (id) {
	case OPTION_CALLS_ONLY:
		return &count->calls_only;
	default:
		return NULL;
	}
}

const char **options_count_word(struct count_options *count, enum option_id id)
{
	switch (id) {
	case OPTION_REPLAY:
		return &count->replay;
	default:
		return NULL;
	}
}
