/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recordings - files of samples, as options name them: opened, with what is to be said
 * where that fails.
 */
#ifndef MS_CMD_RECORDINGS_H
#define MS_CMD_RECORDINGS_H

#include "cmd/options.h"
#include "sample/recorder.h"
#include "sample/replay.h"

/* Do the options about recordings go together? EXIT_DONE, or EXIT_BAD_USAGE after the message. */
int recordings_check_options(const struct options *options);

/* Print why a recording cannot be opened, read or written. Returns EXIT_FAILED. */
int recordings_report(const char *path, int error);

/* That of --record. Returns EXIT_DONE, or how to end after the message. */
int recordings_begin(const struct options *options, struct sampler *sampler, struct recorder **ret);

/* Say if the last sample is not in the file. Returns status, or EXIT_PARTIAL instead of EXIT_DONE. */
int recordings_finish(const struct options *options, const struct recorder *recorder, int status);

/* That of --replay, and which sample --at means, or the last one. Returns as above. */
int recordings_open(const struct options *options, struct replay **ret, size_t *ret_index);

/* The same of any file; at NULL is the last sample. verb is for messages. */
int recordings_open_file(const char *verb, const char *path, const char *at, struct replay **ret,
			 size_t *ret_index);

#endif
