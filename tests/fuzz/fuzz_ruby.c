/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The damaged memory of Ruby. See heap_check.h. */
#include "config.h"

#include "heap_check.h"
#include "../unit/support/ruby_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ruby_image made;
	static struct damage damage;

	if (size == 0)
		return 0;
	if (!damage.image) {
		ruby_image_init(&made, 16384, false);
		damage_init(&damage, &made.memory.image);
	}
	heap_check_made(&made.memory, &damage, walk_ruby, data, size);
	return 0;
}
