/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * churn: load a data set, drop most of it, and idle for a moment.
 *
 * Every 50th record stays. With glibc's malloc, the records that stay keep the freed memory
 * between them from being returned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 50000
#define RECORD_SIZE 1500
#define KEEP 50

int main(void)
{
	static char *records[RECORDS];

	for (size_t i = 0; i < RECORDS; i++) {
		records[i] = malloc(RECORD_SIZE);
		if (!records[i])
			return 1;
		memset(records[i], 'r', RECORD_SIZE);
	}
	for (size_t i = 0; i < RECORDS; i++)
		if (i % KEEP != 0)
			free(records[i]);
	usleep(700 * 1000);
	puts(records[0] ? "churn: done" : "");
	return 0;
}
