/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps_ways - parse a smaps text in every possible way. The
 * result must always be the same.
 */
#ifndef MS_TESTS_SMAPS_WAYS_H
#define MS_TESTS_SMAPS_WAYS_H

#include "proc/smaps/parse.h"
#include "smaps_texts.h"

#define THREE_RECORDS                        \
	SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER) \
	SMAPS_RECORD_6_18(SMAPS_ANON_HEADER) SMAPS_RECORD_6_18(SMAPS_STACK_HEADER)

enum way {
	WAY_LINES,  /* line by line, without a layout */
	WAY_FRESH,  /* the layout is learnt from this text */
	WAY_LEARNT, /* the layout was learnt from an earlier text */
};

extern struct smaps_reader reader;

/* Set-up and tear-down for every test. */
int open_reader(void **state);
int close_reader(void **state);

/* A mapping_fn that adds m to the struct mapping_list at context. */
int keep_mapping(void *context, struct mapping *m);

/*
 * Parse the text in two parts, split at cut. As in the reader, the second part starts
 * with the bytes that the first left unused.
 */
int parse_parts(enum way way, const char *text, size_t length, size_t cut,
		struct mapping_list *ret);

int parse_text(enum way way, const char *text, struct mapping_list *ret);

/* Make the parser learn its layout from THREE_RECORDS. */
void learn_6_18(void);

uint64_t field_bytes(const struct mapping_list *list, size_t index, enum smaps_field f);

void assert_same_mappings(const struct mapping_list *a, const struct mapping_list *b);

#endif
