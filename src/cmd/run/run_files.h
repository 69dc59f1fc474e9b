/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_files - open the standard streams for the runs of a comparison. */
#ifndef MS_CMD_RUN_RUN_FILES_H
#define MS_CMD_RUN_RUN_FILES_H

#include "model/comparison.h"

/* Standard streams of one run, for the command or its workload. */
struct run_files {
	int input_fd, output_fd, error_fd;
};

#define RUN_FILES_INIT     \
	{                  \
		-1, -1, -1 \
	}
#define _cleanup_run_files_ __attribute__((cleanup(run_files_close)))

void run_files_close(struct run_files *files);

/*
 * Open the file that is memstate's standard input at offset 0, so that each run reads the
 * whole input. If standard input is not a regular file, open /dev/null. Return -1 if no
 * descriptor is available.
 */
int run_files_open_input(void);

/*
 * Create the folder for the output of all runs, or accept an existing empty folder.
 * Return 0, or print a message and return -errno.
 */
int run_files_make_folder(const char *path);

/*
 * Open the streams of one run. The input is opened with run_files_open_input(). The
 * output is written to a subfolder of `folder`, or discarded if folder is NULL. Return 0,
 * or print a message and return -errno.
 */
int run_files_open(const char *folder, const struct variant *variant,
		   const struct run *run, bool is_workload, struct run_files *ret);

#endif
