/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/ctlpage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/key_lines.h"
#include "probe/borrow/segment.h"
#include "proc/process/dir.h"
#include "proc/process/file.h"
#include "proc/process/stat.h"
#include "proc/process/status.h"

#define MAPS_BYTES_MAX (64 << 20)
#define LINK_SIZE 64

/*
 * A mapping, parsed from a line of /proc/PID/maps such as:
 *
 * 7f15e4621000-7f15e46a2000 rw-s 00000000 00:01 32812 /SYSV00000000 (deleted)
 */
struct place {
	uint64_t start_addr;
	/* id of the System V segment, which /proc/PID/maps shows as the inode */
	uint64_t inode;
	bool is_segment;
};

static bool parse_place(const char *line, struct place *ret)
{
	uint64_t start, end, offset, inode;
	unsigned int major, minor;
	char perms[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &start, &end, perms, &offset, &major, &minor, &inode, &name) < 7)
		return false;
	if (end - start != AGENT_PAGE_BYTES || offset != 0 || strcmp(perms, "rw-s") != 0)
		return false;
	ret->start_addr = start;
	ret->inode = inode;
	ret->is_segment = strncmp(line + name, "/SYSV", 5) == 0;
	return ret->is_segment || strncmp(line + name, "/dev/zero (deleted)", 19) == 0;
}

static bool is_same_ipc_namespace(const struct procfs *fs, int pid)
{
	char ours[LINK_SIZE], theirs[LINK_SIZE];

	return proc_file_read_link(fs, PROCFS_SELF, PROC_NS_IPC, ours, sizeof(ours)) ==
		       0 &&
	       proc_file_read_link(fs, pid, PROC_NS_IPC, theirs, sizeof(theirs)) == 0 &&
	       strcmp(ours, theirs) == 0;
}

/*
 * Attach a System V segment. The process cannot truncate the segment, because its size is
 * fixed at its creation.
 */
static int attach(uint64_t number, struct ctlpage *ret)
{
	struct shmid_ds segment;
	void *page;

	if (number > INT32_MAX || shmctl((int)number, IPC_STAT, &segment) < 0)
		return -EPERM;
	if (segment.shm_segsz != AGENT_PAGE_BYTES)
		return -ENOENT;
	page = shmat((int)number, NULL, 0);
	if ((intptr_t)page == -1)
		return -errno;
	ret->page = page;
	ret->is_segment = true;
	return 0;
}

/*
 * Return true if the file is on the kernel's internal tmpfs. A file of the same name on
 * another file system could be truncated, and reading the page would then kill memstate
 * with SIGBUS.
 */
static bool is_of_kernel(const struct stat *file)
{
	_cleanup_close_ int fd = memfd_create("memstate", MFD_CLOEXEC);
	struct stat ours;

	return fd >= 0 && fstat(fd, &ours) == 0 && ours.st_dev == file->st_dev;
}

static int map(const struct procfs *fs, int pid, uint64_t addr, struct ctlpage *ret)
{
	_cleanup_close_ int path_fd = -1, fd = -1;
	struct stat file;
	void *page;

	/*
	 * check the file type before opening the file, because opening a device
	 * may have side effects
	 */
	path_fd = proc_mapped_find(fs, pid, addr, addr + AGENT_PAGE_BYTES);
	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &file) < 0 || !S_ISREG(file.st_mode) ||
	    file.st_size != AGENT_PAGE_BYTES || !is_of_kernel(&file))
		return -ENOENT;
	fd = procfs_reopen(path_fd, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fd;
	page = mmap(NULL, AGENT_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	ret->page = page;
	ret->is_segment = false;
	ret->addr = addr;
	return 0;
}

static int share(const struct procfs *fs, int pid, const struct place *place,
		 struct ctlpage *ret)
{
	if (place->is_segment && is_same_ipc_namespace(fs, pid) &&
	    attach(place->inode, ret) == 0) {
		ret->addr = place->start_addr;
		return 0;
	}
	return map(fs, pid, place->start_addr, ret);
}

/*
 * Return the pid of the process in its own namespace. It differs from the pid that is
 * stored in the shared page if the process is a forked child: a child inherits the page
 * of its parent, but not the helper's thread.
 */
static int32_t own_pid(const struct procfs *fs, int pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t own;

	if (proc_file_read(fs, pid, PROC_STATUS, KEY_LINES_BYTES_MAX, &text) < 0)
		return 0;
	own = proc_status_find_own_number(strbuf_text(&text));
	return own != 0 ? (int32_t)own : pid;
}

static int check(const struct ctlpage *ctl, const struct procfs *fs, int pid,
		 uint64_t start_ticks)
{
	const volatile struct agent_page *page = ctl->page;
	uint64_t owner_start = page->owner_start_ticks;

	if (page->magic != AGENT_MAGIC)
		return -ENOENT;
	if (page->version != AGENT_VERSION || page->size_bytes != AGENT_PAGE_BYTES)
		return -EPROTO;
	if (page->owner_pid != (uint32_t)own_pid(fs, pid) ||
	    (owner_start != 0 && owner_start != start_ticks))
		return -ENOENT;
	return page->state == AGENT_LEAVING || page->state == AGENT_EMPTY ? -ENOENT : 0;
}

/*
 * Return the value that this client writes to the page's lock. It identifies this
 * process, so that other clients can take over the lock once the process has ended.
 */
static uint64_t own_lock(const struct procfs *fs)
{
	struct process self;

	if (proc_stat_read(fs, getpid(), &self) < 0)
		return (uint64_t)getpid();
	return (self.start_ticks & UINT32_MAX) << 32 | (uint64_t)getpid();
}

static void complete(struct ctlpage *ctl, const struct procfs *fs, int pid,
		     uint64_t start_ticks)
{
	ctl->fs = fs;
	ctl->pid = pid;
	ctl->start_ticks = start_ticks;
	ctl->lock = own_lock(fs);
}

static void release(struct ctlpage *ctl)
{
	if (ctl->page && ctl->is_segment)
		shmdt(ctl->page);
	else if (ctl->page)
		munmap(ctl->page, AGENT_PAGE_BYTES);
	ctl->page = NULL;
}

void ctlpage_close(struct ctlpage *ctl)
{
	release(ctl);
}

int ctlpage_open(const struct procfs *fs, int pid, uint64_t start_ticks,
		 struct ctlpage *ret)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	struct ctlpage found = CTLPAGE_INIT;
	struct place place;
	int r, worst = -ENOENT;

	r = proc_file_read(fs, pid, PROC_MAPS, MAPS_BYTES_MAX, &maps);
	if (r < 0)
		return r;
	for (const char *line = strbuf_text(&maps); line && *line;) {
		if (parse_place(line, &place)) {
			r = share(fs, pid, &place, &found);
			if (found.page)
				r = check(&found, fs, pid, start_ticks);
			if (r == 0)
				break;
			release(&found);
			if (r != -ENOENT)
				worst = r;
		}
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	if (!found.page)
		return worst == -EACCES ? -EPERM : worst;
	complete(&found, fs, pid, start_ticks);
	*ret = found;
	return 0;
}

static void set_head(struct agent_page *page, uint64_t start_ticks)
{
	page->magic = AGENT_MAGIC;
	page->version = AGENT_VERSION;
	page->size_bytes = AGENT_PAGE_BYTES;
	page->idle_ms = AGENT_IDLE_MS;
	page->owner_start_ticks = start_ticks;
	__atomic_store_n(&page->state, AGENT_STARTING, __ATOMIC_SEQ_CST);
}

int ctlpage_make(const struct procfs *fs, int pid, uint64_t start_ticks,
		 struct ctlpage *ret, int *ret_segment)
{
	struct ctlpage made = { .is_segment = true };
	void *page;
	int r = segment_make(AGENT_PAGE_BYTES, 0, ret_segment, &page);

	if (r < 0)
		return r;
	made.page = page;
	set_head(made.page, start_ticks);
	complete(&made, fs, pid, start_ticks);
	*ret = made;
	return 0;
}

int ctlpage_adopt(const struct procfs *fs, int pid, uint64_t start_ticks, uint64_t addr,
		  struct ctlpage *ret)
{
	struct ctlpage found = CTLPAGE_INIT;
	int r = map(fs, pid, addr, &found);

	if (!found.page)
		return r == -EACCES ? -EPERM : r;
	set_head(found.page, start_ticks);
	complete(&found, fs, pid, start_ticks);
	*ret = found;
	return 0;
}
