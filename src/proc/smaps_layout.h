/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps_layout - the lines of a record of smaps: which there are, and where, so that all
 * at once can be read by their columns. Internal to proc/: others use proc_smaps.h.
 */
#ifndef MS_PROC_SMAPS_LAYOUT_H
#define MS_PROC_SMAPS_LAYOUT_H

#include "proc/proc_smaps.h"

#define SMAPS_FLAGS_KEY	       "VmFlags:"
#define SMAPS_FLAGS_KEY_LENGTH (sizeof(SMAPS_FLAGS_KEY) - 1)

/* Which lines a record has; those of no interest are not counted. */
#define SMAPS_LINE_BIT(field) (UINT32_C(1) << (field))
#define SMAPS_FLAGS_LINE_BIT  SMAPS_LINE_BIT(SMAPS_FIELD_COUNT_)

/* A record's first line begins with an address, the others with a capital letter. */
static inline bool smaps_is_header_start(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Of a key with its colon; SMAPS_FIELD_COUNT_ for one of no interest, or of a newer kernel. */
enum smaps_field smaps_find_field(const char *key, size_t length);

/*
 * Learn from the lines that follow a header, if a whole record is there; at_end: nothing
 * follows the text. Otherwise line_count is 0.
 */
void smaps_layout_learn(struct smaps_layout *layout, const char *text, size_t length, bool at_end);

/*
 * The amounts of a record, from the lines after its header, of which layout->flags_offset
 * bytes are there. False if the layout is not its; *ret is then anything.
 */
bool smaps_layout_parse(const struct smaps_layout *layout, const char *record,
			struct counters *ret);

#endif
