/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/borrow/segment.h"

#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"
#include "proc/process/status.h"

int segment_make(uint64_t bytes, int flags, int *ret_segment, void **ret_memory)
{
	void *memory;
	int segment, r = 0;

	segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | flags | 0600);
	if (segment < 0)
		return -errno;
	memory = shmat(segment, NULL, 0);
	if (memory == (void *)-1)
		r = -errno;
	shmctl(segment, IPC_RMID, NULL);
	if (r < 0)
		return r;
	*ret_segment = segment;
	*ret_memory = memory;
	return 0;
}

int segment_allow(int segment, uid_t uid)
{
	struct shmid_ds ds;

	if (shmctl(segment, IPC_STAT, &ds) < 0)
		return -errno;
	if (ds.shm_perm.uid == uid)
		return 0;
	ds.shm_perm.uid = uid;
	return shmctl(segment, IPC_SET, &ds) < 0 ? -errno : 0;
}

int segment_revoke(int segment)
{
	return segment_allow(segment, geteuid());
}

int64_t segment_user_of(int process_fd)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t uid;
	int r = proc_status_read(process_fd, &text);

	if (r < 0)
		return r;
	return proc_status_find_uid(strbuf_text(&text), &uid) ? (int64_t)uid : -EBADMSG;
}

bool segment_is_mapped(const struct mapping *m)
{
	return (m->flags & MAPPING_SHARED) && strncmp(m->name, "/SYSV", 5) == 0;
}

bool segment_is_whole(const struct mapping *m, uint64_t bytes)
{
	struct shmid_ds segment;

	return segment_is_mapped(m) && m->inode <= INT32_MAX &&
	       m->file_offset_bytes == 0 && m->end_addr - m->start_addr == bytes &&
	       shmctl((int)m->inode, IPC_STAT, &segment) == 0 &&
	       segment.shm_segsz == bytes;
}

int segment_is_shared_with(int process_fd, bool *ret)
{
	struct stat theirs, ours;
	int r = proc_dir_stat(process_fd, PROC_NS_IPC, &theirs);

	if (r < 0)
		return r == -EACCES ? -EPERM : r;
	r = proc_own_stat(PROC_NS_IPC, &ours);
	if (r < 0)
		return r;
	*ret = theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
	return 0;
}
