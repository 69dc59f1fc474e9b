/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages - read constant data of the JVM: from the image if possible, otherwise from a
 * resident page outside the image or from the mapped file. Pages are cached, because the
 * tables of libjvm.so refer to thousands of names in a few hundred pages.
 */
#ifndef MS_WALK_HOTSPOT_PAGES_H
#define MS_WALK_HOTSPOT_PAGES_H

#include "walk/hotspot/walk.h"

/*
 * Maximum size of a name that the walker reads, including the NUL. All names that the
 * walker searches for are shorter.
 */
#define HOTSPOT_TEXT_SIZE 64

/*
 * Read the bytes in [addr, addr + length). Return false if any of them cannot be read.
 */
bool hotspot_page_read(struct hotspot *h, uint64_t addr, void *to, size_t length);

/*
 * Read a NUL-terminated name of at most HOTSPOT_TEXT_SIZE - 1 bytes. Return false if
 * the name is longer or cannot be read.
 */
bool hotspot_page_text(struct hotspot *h, uint64_t addr, char to[HOTSPOT_TEXT_SIZE]);

#endif
