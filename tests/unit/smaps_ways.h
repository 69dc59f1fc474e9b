/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps_ways - a smaps text parsed in each of the ways there are. The result must not depend on it.
 */
#ifndef MS_TESTS_SMAPS_WAYS_H
#define MS_TESTS_SMAPS_WAYS_H

#include "proc/smaps_parse.h"
#include "smaps_texts.h"

#define THREE_RECORDS                                                                              \
	SMAPS_RECORD_6_18(SMAPS_TEXT_HEADER)                                                       \
	SMAPS_RECORD_6_18(SMAPS_ANON_HEADER) SMAPS_RECORD_6_18(SMAPS_STACK_HEADER)

enum way {
	WAY_LINES,  /* line by line, no layout */
	WAY_FRESH,  /* the layout is learnt from this text */
	WAY_LEARNT, /* it is known from an earlier one */
};

extern struct smaps_reader reader;

/* Set-up and tear-down of every test. */
int open_reader(void **state);
int close_reader(void **state);

/* A mapping_fn that adds to a struct mapping_list. */
int keep_mapping(void *context, struct mapping *m);

/* Text in two parts, the rest of the first in front of the second, as the reader does it. */
int parse_parts(enum way way, const char *text, size_t length, size_t cut,
		struct mapping_list *ret);

int parse_text(enum way way, const char *text, struct mapping_list *ret);

/* Make THREE_RECORDS the text that the layout was learnt from. */
void learn_6_18(void);

uint64_t field_bytes(const struct mapping_list *list, size_t index, enum smaps_field f);

void assert_same_mappings(const struct mapping_list *a, const struct mapping_list *b);

#endif
