/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The damaged memory of Chromium. See heap_check.h. */
#include "config.h"

#include "heap_check.h"
#include "../unit/support/partition_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Chromium 156 and 150 */
	static struct partition_image made[2];
	static struct damage damage[2];
	unsigned int i;

	if (size == 0)
		return 0;
	i = data[0] & 1;
	if (!damage[i].image) {
		partition_image_init(&made[i], i);
		damage_init(&damage[i], &made[i].memory.image);
	}
	heap_check_made(&made[i].memory, &damage[i], walk_partition, data, size);
	return 0;
}
