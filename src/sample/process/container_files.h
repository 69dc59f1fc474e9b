/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_files - find the names of containers and pods in files that kubelet, Docker,
 * podman and CRI-O keep on the host. No daemon is contacted.
 */
#ifndef MS_SAMPLE_PROCESS_CONTAINER_FILES_H
#define MS_SAMPLE_PROCESS_CONTAINER_FILES_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

/*
 * Open the root directory of the host whose processes fs shows: that of its first
 * process, or our own. Returns a descriptor that the caller closes; or -errno, also for
 * a captured tree.
 */
int container_files_open_root(const struct procfs *fs);

/*
 * Fill in the missing names of the container and pod whose id and uid *names has. path is
 * the path of the group. Names that cannot be found or read stay unknown.
 */
void container_files_find(int root_fd, const char *path, char **names);

/*
 * If no file names the pod, use the host name that pid, a process of the pod, has in its
 * root, unless that is the host's own name.
 */
void container_files_find_pod(const struct procfs *fs, int pid, char **names);

#endif
