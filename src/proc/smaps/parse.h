/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse - parse the text of smaps in chunks, while it is read. Internal to proc/: other
 * layers use smaps/smaps.h.
 */
#ifndef MS_PROC_SMAPS_PARSE_H
#define MS_PROC_SMAPS_PARSE_H

#include "proc/smaps/smaps.h"

struct smaps_parse {
	/* the learned layout; NULL to parse line by line */
	struct smaps_layout *layout;
	/* names of the mapping being parsed, and of the mapping in `held` */
	struct strbuf *name, *held_name;
	mapping_fn fn;
	void *context;
	struct mapping current; /* the record that is being parsed line by line */
	bool has_current;
	/*
	 * lines parsed so far in the current record: one bit for each enum smaps_field,
	 * and one for VmFlags
	 */
	uint32_t current_lines;
	/* lines of the first record, which all records must have */
	uint32_t expected_lines;
	/*
	 * The last complete record. The parser passes it to fn only after parsing the
	 * next record, which may be a newer state of the same mapping.
	 */
	struct mapping held;
	bool has_held;
	size_t line_count;    /* number of lines parsed so far */
	size_t mapping_count; /* number of complete records so far */
};

void smaps_parse_begin(struct smaps_parse *p, struct smaps_layout *layout,
		       struct strbuf names[2], mapping_fn fn, void *context);

/*
 * Parse the complete records and lines in text. Return 0, with the number of parsed
 * bytes in *ret_used (at most length); -EBADMSG; or the negative value that fn returned.
 * The caller must pass the remaining bytes again, followed by more text.
 *
 * The kernel writes the same lines in all records. A record that lacks a line of the
 * first record was therefore truncated, and causes -EBADMSG. With at_end, all text is
 * parsed. A last line without a newline then causes -EBADMSG, because its number may be
 * truncated.
 */
int smaps_parse_part(struct smaps_parse *p, const char *text, size_t length, bool at_end,
		     size_t *ret_used);

#endif
