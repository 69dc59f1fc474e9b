/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linked_in - recognize an allocator that is linked into a stripped program.
 * Such a program has no symbols for the allocator's functions, so memstate
 * cannot count their calls.
 */
#ifndef MS_PROBE_COUNT_LINKED_IN_H
#define MS_PROBE_COUNT_LINKED_IN_H

/*
 * Return a static description of the allocator in an open program, for
 * COUNT_UNCOVERED_FORMAT. Return NULL if the program has symbols, exports malloc itself,
 * or contains none of the known strings.
 */
const char *linked_in_find(int fd);

#endif
