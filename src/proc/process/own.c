/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/process/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define NICE_MIN (-20)

static const char unkillable_score[] = "-1000";

int own_disable_oom_kill(void)
{
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno
		      : io_write_all(fd, unkillable_score, strlen(unkillable_score));
}

static bool may_lock(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[0].effective >> CAP_IPC_LOCK & 1;
}

void own_raise_priority(void)
{
	(void)setpriority(PRIO_PROCESS, 0, NICE_MIN);
}

/*
 * Release the resident code pages of memstate and its libraries. Half of memstate's
 * resident memory is code that only runs at startup. When released code runs again, the
 * kernel maps its pages from the page cache. Other mappings are not released, because
 * modified pages of a private file mapping would be lost.
 */
void own_release_code_pages(void)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, inode;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %*s %*s %" SCNu64, &start,
			   &end, &inode) == 3 &&
		    inode != 0)
			(void)madvise((void *)(uintptr_t)start, end - start,
				      MADV_DONTNEED);
	}
}

/*
 * Without CAP_IPC_LOCK, lock only the current mappings: with MCL_FUTURE, creating
 * mappings beyond RLIMIT_MEMLOCK would fail. MCL_ONFAULT keeps mlockall() from making
 * pages resident.
 */
int own_lock_memory(void)
{
	int flags;

	own_release_code_pages();
	flags = MCL_CURRENT | MCL_ONFAULT | (may_lock() ? MCL_FUTURE : 0);

	return mlockall(flags) < 0 ? -errno : 0;
}

bool own_may_overcommit(void)
{
	_cleanup_close_ int fd =
		open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	char mode = 0;

	return fd >= 0 && read(fd, &mode, sizeof(mode)) == sizeof(mode) && mode != '2';
}

bool own_may_write_huge_pages(void)
{
	_cleanup_close_ int fd = open("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
				      O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	/* without the file, the kernel has no huge pages */
	return fd >= 0 && !strstr(text, "[never]") && !strstr(text, "[advise]") &&
	       !strstr(text, "[deny]");
}

uint64_t own_count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t count = 0;

	if (!dir)
		return UINT64_MAX;
	while (readdir(dir))
		count++;
	closedir(dir);
	/* do not count ".", ".." and the descriptor of the directory itself */
	return count - 3;
}
