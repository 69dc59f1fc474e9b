/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout - learn the lines of an smaps record and their offsets, so that later records
 * can be parsed column by column. Internal to proc/: other layers use smaps/smaps.h.
 */
#ifndef MS_PROC_SMAPS_LAYOUT_H
#define MS_PROC_SMAPS_LAYOUT_H

#include "proc/smaps/smaps.h"

#define SMAPS_FLAGS_KEY "VmFlags:"
#define SMAPS_FLAGS_KEY_LENGTH (sizeof(SMAPS_FLAGS_KEY) - 1)

/*
 * The bit that represents a line of a record in a set of lines. Ignored lines have no
 * bit.
 */
#define SMAPS_LINE_BIT(field) (UINT32_C(1) << (field))
#define SMAPS_FLAGS_LINE_BIT SMAPS_LINE_BIT(SMAPS_FIELD_COUNT_)

/*
 * Return true if c can be the first character of a record. A record begins with an
 * address; its other lines begin with a capital letter.
 */
static inline bool smaps_is_header_start(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/*
 * Return the smaps field for a key, which includes the colon. Return SMAPS_FIELD_COUNT_
 * if the key is ignored or unknown.
 */
enum smaps_field smaps_find_field(const char *key, size_t length);

/*
 * Learn the layout from the lines that follow a header line. at_end means that the text
 * is the end of the file. Set line_count to 0 if the text does not contain a complete
 * record, or if the record has no fixed layout.
 */
void smaps_layout_learn(struct smaps_layout *layout, const char *text, size_t length,
			bool at_end);

/*
 * Parse the amounts of a record, given the text after its header line, which has at
 * least layout->flags_offset bytes. Return false, with *ret undefined, if the
 * record does not fit the layout.
 */
bool smaps_layout_parse(const struct smaps_layout *layout, const char *record,
			struct counters *ret);

#endif
