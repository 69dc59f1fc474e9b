/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/comparison.h"

#include <stdlib.h>

void variant_release(struct variant *variant)
{
	free(variant->name);
	free(variant->library);
	for (char **s = variant->settings; s && *s; s++)
		free(*s);
	free(variant->settings);
	*variant = (struct variant){ 0 };
}

void comparison_release(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->variant_count; i++)
		variant_release(&comparison->variants[i]);
	for (size_t i = 0; i < comparison->run_count; i++)
		free(comparison->runs[i].samples);
	free(comparison->variants);
	free(comparison->runs);
	free(comparison->counts);
	free(comparison->command);
	free(comparison->workload);
	*comparison = (struct comparison){ 0 };
}
