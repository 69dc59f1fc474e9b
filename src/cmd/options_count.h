/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_count - the options of counting allocations: what the table's rows of them set.
 */
#ifndef MS_CMD_OPTIONS_COUNT_H
#define MS_CMD_OPTIONS_COUNT_H

#include <stdbool.h>

#include "cmd/option_rows.h"
#include "cmd/options.h"

/* Of an option that is said or not; NULL if it is none of those. */
bool *options_count_flag(struct count_options *count, enum option_id id);

/* --stacks, or an option that has no meaning without. */
bool options_count_records_stacks(const struct count_options *count);

/* Of one whose argument is taken as it is; NULL if it is none of those. */
const char **options_count_word(struct count_options *count, enum option_id id);

/*
 * Set one whose argument is a number, or one of several. Returns 0; -EINVAL if it is none of those; -ERANGE if it is
 * not what *ret_want says.
 */
int options_count_value(struct count_options *count, enum option_id id, const char *arg,
			 const char **ret_want);

/* Whether what is shown is a profile, and no counts alone. */
bool options_count_has_stacks(const struct count_options *count);

#endif
