/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The damaged memory of Node.js. See heap_check.h. */
#include "config.h"

#include "heap_check.h"
#include "../unit/support/v8_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* with descriptors in the chunks, and with separate ones */
	static struct v8_image made[2];
	static struct damage damage[2];
	unsigned int i;

	if (size == 0)
		return 0;
	i = data[0] & 1;
	if (!damage[i].image) {
		v8_image_init(&made[i], 1 + 2 * i);
		damage_init(&damage[i], &made[i].memory.image);
	}
	heap_check_made(&made[i].memory, &damage[i], walk_v8, data, size);
	return 0;
}
