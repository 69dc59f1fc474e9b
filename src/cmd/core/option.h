/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option - an option of a command, and functions that store its argument. The output of
 * --help, the shell completion and the check of the man page are derived from these rows.
 */
#ifndef MS_CMD_CORE_OPTION_H
#define MS_CMD_CORE_OPTION_H

#include <stddef.h>
#include <stdint.h>

struct options;

/*
 * A row of a table of options. Offsets are relative to the options of the command: a
 * struct options, or a struct that begins with one.
 */
struct option_row {
	char letter;	  /* 0: no short option */
	const char *name; /* NULL: end of the table */
	const char *arg;  /* NULL: takes no argument */
	const char *help;
	size_t flag; /* offset of a bool that is set if the option is given; 0: none */
	/*
	 * Store the argument. Returns 0, -EINVAL if arg is not what `want` describes, or
	 * -ECANCELED after a message. NULL: nothing to store.
	 */
	int (*set)(const struct option_row *row, char *arg, struct options *o);
	size_t value;	      /* offset of the member in which set() stores arg */
	uint64_t least, most; /* the range of a number; most 0: no upper limit */
	const char *want;     /* "a number from 1" */
	const char *needs;    /* another option that must be given too, or NULL */
};

/* Find an option of several commands by its name. It is stored in struct options. */
const struct option_row *option_find_shared(const char *name, size_t length);

/* For --heap, whose help differs between commands. */
#define OPTION_HEAP_WANT "auto, walk, helper or off"
int option_set_heap(const struct option_row *row, char *arg, struct options *o);

/* Store the argument unparsed in a const char *. */
int option_set_word(const struct option_row *row, char *arg, struct options *o);

/* Store a number, a duration in ns, or bytes in a uint64_t. */
int option_set_number(const struct option_row *row, char *arg, struct options *o);
int option_set_duration(const struct option_row *row, char *arg, struct options *o);
int option_set_bytes(const struct option_row *row, char *arg, struct options *o);

/*
 * Store a decimal number with up to three digits after the point, in thousandths, in a
 * uint64_t.
 */
int option_set_thousandths(const struct option_row *row, char *arg, struct options *o);

#endif
