/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps_parse - the text of smaps, a part at a time. Internal to proc/: others use proc_smaps.h.
 */
#ifndef MS_PROC_SMAPS_PARSE_H
#define MS_PROC_SMAPS_PARSE_H

#include "proc/proc_smaps.h"

struct smaps_parse {
	struct smaps_layout *layout; /* NULL: every line is parsed by itself */
	struct strbuf *name, *held_name; /* of what is parsed, and of held */
	mapping_fn fn;
	void *context;
	struct mapping current; /* the record whose lines are being read one by one */
	bool has_current;
	uint32_t current_lines;	 /* what current has: a bit per enum smaps_field, and VmFlags' */
	uint32_t expected_lines; /* what the first record had */
	struct mapping held; /* the last whole record: the next one may be the same mapping again */
	bool has_held;
	size_t line_count;    /* lines finished so far */
	size_t mapping_count; /* whole records so far */
};

void smaps_parse_begin(struct smaps_parse *p, struct smaps_layout *layout, struct strbuf names[2],
		       mapping_fn fn, void *context);

/*
 * Take what is whole from text. A record that lacks what the first one has was cut: the
 * kernel writes the same lines in all of them. Returns 0 with *ret_used <= length bytes
 * taken, -EBADMSG, or what fn returned. The rest must come again, with more behind it.
 * With at_end nothing is left over: a line without its newline is -EBADMSG, for its
 * number may be cut.
 */
int smaps_parse_part(struct smaps_parse *p, const char *text, size_t length, bool at_end,
		     size_t *ret_used);

#endif
