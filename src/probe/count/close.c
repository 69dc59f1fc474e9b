/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/count/close.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#define AT_ONCE 32

/*
 * The descriptors that one of several threads closes: every AT_ONCE-th element of fds,
 * starting with index `first`.
 */
struct share {
	const int *fds;
	size_t first, count;
	pthread_t thread;
	bool has_thread;
};

static void *close_share(void *data)
{
	const struct share *share = data;

	for (size_t i = share->first; i < share->count; i += AT_ONCE)
		if (share->fds[i] >= 0)
			close(share->fds[i]);
	return NULL;
}

void count_close_all(const int *fds, size_t count)
{
	struct share shares[AT_ONCE];

	for (size_t i = 0; i < AT_ONCE && i < count; i++) {
		shares[i] = (struct share){ .fds = fds, .first = i, .count = count };
		shares[i].has_thread = pthread_create(&shares[i].thread, NULL,
						      close_share, &shares[i]) == 0;
		if (!shares[i].has_thread)
			close_share(&shares[i]);
	}
	for (size_t i = 0; i < AT_ONCE && i < count; i++)
		if (shares[i].has_thread)
			pthread_join(shares[i].thread, NULL);
}
