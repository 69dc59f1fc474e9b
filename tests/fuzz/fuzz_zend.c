/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The damaged memory of PHP. See heap_check.h. */
#include "config.h"

#include "heap_check.h"
#include "../unit/support/zend_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct zend_image_layout layout = { 34, 39, 50 };
	static struct zend_image made;
	static struct damage damage;

	if (size == 0)
		return 0;
	if (!damage.image) {
		zend_image_init(&made, &layout);
		damage_init(&damage, &made.memory.image);
	}
	heap_check_made(&made.memory, &damage, walk_zend, data, size);
	return 0;
}
