/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recordings - open the recordings that the options name, and report why a recording
 * cannot be opened.
 */
#ifndef MS_CMD_SESSION_RECORDINGS_H
#define MS_CMD_SESSION_RECORDINGS_H

#include "cmd/core/options.h"
#include "sample/recording/recorder.h"
#include "sample/recording/replay.h"

/*
 * Check that the options for recordings can be combined. Return EXIT_DONE, or print a
 * message and return EXIT_BAD_USAGE.
 */
int recordings_check_options(const struct options *options);

/*
 * Print a message that explains why a recording cannot be opened, read or written. Return
 * EXIT_FAILED.
 */
int recordings_report(const char *path, int error);

/*
 * If path is not a file but has the form "FILE@TIME" and FILE is a file, return the
 * offset of TIME. Otherwise return 0. Only the command diff accepts this notation.
 */
size_t recordings_find_moment(const char *path);

/*
 * Open the recording named by --record for writing. Return EXIT_DONE, or print a
 * message and return another exit status.
 */
int recordings_begin(const struct options *options, struct sampler *sampler,
		     struct recorder **ret);

/*
 * Print a message if the last sample could not be recorded, and return EXIT_PARTIAL
 * instead of EXIT_DONE. Otherwise return `status`.
 */
int recordings_finish(const struct options *options, const struct recorder *recorder,
		      int status);

/*
 * Open the recording named by --replay. *ret_index is the index of the sample that --at
 * selects, or of the last sample. Return EXIT_DONE, or print a message and return
 * another exit status.
 */
int recordings_open(const struct options *options, struct replay **ret,
		    size_t *ret_index);

/*
 * Open a recording like recordings_open(), but with any path. `at` selects the sample; if
 * it is NULL, the last sample is selected. `verb` is the name of the command, for
 * messages.
 */
int recordings_open_file(const char *verb, const char *path, const char *at,
			 struct replay **ret, size_t *ret_index);

#endif
