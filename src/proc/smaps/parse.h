/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse - parse the text of smaps incrementally. Internal to proc/:
 * other layers use smaps/smaps.h.
 */
#ifndef MS_PROC_SMAPS_PARSE_H
#define MS_PROC_SMAPS_PARSE_H

#include "proc/smaps/smaps.h"

struct smaps_parse {
	struct smaps_layout *layout; /* NULL: each line is parsed separately */
	/* names of the mapping being parsed, and of held */
	struct strbuf *name, *held_name;
	mapping_fn fn;
	void *context;
	struct mapping current; /* the record whose lines are being parsed one by one */
	bool has_current;
	/* lines seen in current: one bit per enum smaps_field, and one for VmFlags */
	uint32_t current_lines;
	uint32_t expected_lines; /* lines that the first record had */
	/*
	 * the last complete record, not passed to fn yet: the next
	 * record may repeat the mapping
	 */
	struct mapping held;
	bool has_held;
	size_t line_count;    /* lines parsed so far */
	size_t mapping_count; /* complete records so far */
};

void smaps_parse_begin(struct smaps_parse *p, struct smaps_layout *layout,
		       struct strbuf names[2], mapping_fn fn, void *context);

/*
 * Parse the complete records and lines in text. Returns 0 with *ret_used <= length bytes
 * consumed, -EBADMSG, or the negative value that fn returned. The caller must pass the
 * remaining bytes again, followed by more text. A record that lacks a line of the first
 * record was truncated and gives -EBADMSG, because the kernel writes the same lines in
 * all records. With at_end all text is consumed; a line without a newline is then
 * -EBADMSG, because its number may be truncated.
 */
int smaps_parse_part(struct smaps_parse *p, const char *text, size_t length, bool at_end,
		     size_t *ret_used);

#endif
