/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_count - store the options for counting allocations.
 */
#ifndef MS_CMD_CORE_OPTIONS_COUNT_H
#define MS_CMD_CORE_OPTIONS_COUNT_H

#include <stdbool.h>

#include "cmd/core/option_rows.h"
#include "cmd/core/options.h"

/* Return the member for a flag without argument, or NULL if id is not such an option. */
bool *options_count_flag(struct count_options *count, enum option_id id);

/* Whether --stacks or an option that implies it is set. */
bool options_count_records_stacks(const struct count_options *count);

/*
 * Return the member for an option whose argument is stored unparsed, or NULL if id is
 * not such an option.
 */
const char **options_count_word(struct count_options *count, enum option_id id);

/*
 * Set an option whose argument is a number, or append to one that may be repeated.
 * Returns 0; -EINVAL if id is not such an option; or -ERANGE if arg is not what
 * *ret_want describes.
 */
int options_count_value(struct count_options *count, enum option_id id, const char *arg,
			const char **ret_want);

/* Whether the output is a profile rather than only counts. */
bool options_count_has_stacks(const struct count_options *count);

#endif
