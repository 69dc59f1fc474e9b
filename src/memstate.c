/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <malloc.h>

#include "cmd/cmd.h"

/*
 * What has grown so far is moved by the kernel from then on: memstate keeps its own Rss
 * small.
 */
#define MAPPED_BYTES_MIN 65536

int main(int argc, char **argv)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
#endif
	return cmd_main(argc, argv);
}
