/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option - a table of a command's options, and functions that store their arguments. The
 * output of --help, the shell completion and the check of the man page are derived from
 * such tables.
 */
#ifndef MS_CMD_CORE_OPTION_H
#define MS_CMD_CORE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options;

/* Headings in --help, in this order; GENERAL is last. */
enum option_group {
	OPTIONS_GENERAL,
	OPTIONS_PROCESSES,
	OPTIONS_OUTPUT,
	OPTIONS_HEAP,
	OPTIONS_RUNS,
	OPTIONS_LIMITS,
	OPTIONS_STACKS,
	OPTIONS_RECORDINGS,
	OPTIONS_GROUP_COUNT_,
};

/*
 * A row of a table of options. Offsets are relative to the command's options: a struct
 * options, or a struct that begins with a struct options.
 */
struct option_row {
	char letter;	  /* short option; 0: none */
	const char *name; /* long option; NULL: end of the table */
	/*
	 * Name of the argument in --help. NULL: the option has no argument. "[=WHEN]":
	 * the argument is optional, and set() receives NULL if it is missing.
	 */
	const char *arg;
	const char *help; /* short phrase for --help; the manual has the details */
	enum option_group group;
	bool is_rare; /* true if only "memstate help -a" lists the option */
	/* offset of a bool member that is set if the option is given; 0: none */
	size_t flag;
	/*
	 * Store the argument. Return 0; -EINVAL if arg does not match the description in
	 * `want`; or -ECANCELED if set() has printed a message itself. set is NULL if
	 * there is nothing to store.
	 */
	int (*set)(const struct option_row *row, char *arg, struct options *o);
	size_t value; /* offset of the member that set() sets */
	/* minimum and maximum of a numeric argument; max 0: no upper limit */
	uint64_t min, max;
	/* description of the argument for messages, such as "a number from 1" */
	const char *want;
	/* name of another option that this option requires, or NULL */
	const char *needs;
};

/* Find a shared option by its name. Shared options are stored in struct options. */
const struct option_row *option_find_shared(const char *name, size_t length);

/*
 * Select a process: digits are a pid, and any other text is a name, which is borrowed.
 * Return 0, or print a message and return -EINVAL.
 */
int option_add_target(struct options *o, const char *text);

/* Description of the argument of --heap for messages (`want` in an option row). */
#define OPTION_HEAP_WANT "auto, walk, helper or off"
int option_set_heap(const struct option_row *row, char *arg, struct options *o);

/* Store the argument unparsed in a member of type const char *. */
int option_set_word(const struct option_row *row, char *arg, struct options *o);

/*
 * Parse a number, a duration, or a number of bytes, and store it in a uint64_t. Durations
 * are stored in ns.
 */
int option_set_number(const struct option_row *row, char *arg, struct options *o);
int option_set_duration(const struct option_row *row, char *arg, struct options *o);
int option_set_bytes(const struct option_row *row, char *arg, struct options *o);

/*
 * Parse a decimal number with up to three digits after the point, and store it in
 * thousandths in a uint64_t.
 */
int option_set_thousandths(const struct option_row *row, char *arg, struct options *o);

/*
 * Parse a percentage, with or without a percent sign, and store thousandths of a percent
 * in a uint64_t.
 */
int option_set_percent(const struct option_row *row, char *arg, struct options *o);

#endif
