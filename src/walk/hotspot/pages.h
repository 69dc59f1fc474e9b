/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages - read constant data of the JVM: from the image, or else from a page that is
 * resident but not in the image, or from the mapped file. Pages that are read are kept,
 * because the tables refer to thousands of texts in a few hundred pages.
 */
#ifndef MS_WALK_HOTSPOT_PAGES_H
#define MS_WALK_HOTSPOT_PAGES_H

#include "walk/hotspot/walk.h"

/*
 * Size of the longest text that the walker reads, with its NUL. The names that the walker
 * looks for are shorter.
 */
#define HOTSPOT_TEXT_SIZE 64

/* Read [addr, addr + length). Returns false if a part cannot be read. */
bool hotspot_page_read(struct hotspot *h, uint64_t addr, void *to, size_t length);

/*
 * Read a text of at most HOTSPOT_TEXT_SIZE - 1 bytes. Returns false if the text is longer
 * or cannot be read.
 */
bool hotspot_page_text(struct hotspot *h, uint64_t addr, char to[HOTSPOT_TEXT_SIZE]);

#endif
