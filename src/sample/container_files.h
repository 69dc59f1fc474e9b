/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_files - what containers and pods are called, by files that kubelet, Docker,
 * podman and CRI-O keep on the machine that runs them. No daemon is asked.
 */
#ifndef MS_SAMPLE_CONTAINER_FILES_H
#define MS_SAMPLE_CONTAINER_FILES_H

#include "model/cgroup.h"
#include "proc/procfs.h"

/*
 * The root of the machine whose processes fs has: that of its first process, or our own.
 * Returns a descriptor that the caller closes, or -errno, as for a captured tree.
 */
int container_files_open_root(const struct procfs *fs);

/*
 * Names that are not known yet, of the container and the pod that *names says by id and
 * uid. path is that of the group. What is not to be found, or may not be read, stays
 * unknown.
 */
void container_files_find(int root_fd, const char *path, char **names);

/*
 * A pod that no file tells is called as its containers' host name, but where that is the
 * machine's: from the root of pid, a process of it.
 */
void container_files_find_pod(const struct procfs *fs, int pid, char **names);

#endif
