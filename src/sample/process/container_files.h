/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_files - find the names of containers and pods in files that kubelet, Docker,
 * podman and CRI-O keep on the host, without contacting any daemon.
 */
#ifndef MS_SAMPLE_PROCESS_CONTAINER_FILES_H
#define MS_SAMPLE_PROCESS_CONTAINER_FILES_H

#include "model/cgroup.h"
#include "proc/system/procfs.h"

/*
 * Open the root directory of the host whose processes fs shows: the root of process 1, or
 * else memstate's own root. Return a descriptor that the caller must close, or -errno. A
 * captured tree does not contain a root directory.
 */
int container_files_open_root(const struct procfs *fs);

/*
 * Fill in the missing names of the container and the pod, whose ID and UID are in names.
 * path is the path of the cgroup. Names that cannot be found or read stay unknown.
 */
void container_files_find(int root_fd, const char *path, char **names);

/*
 * If the name of the pod is still missing, use the host name of process `pid` of the pod,
 * which is stored in a file below the root directory of the process. Ignore this name if
 * it is the host name of the machine.
 */
void container_files_find_pod(const struct procfs *fs, int pid, char **names);

#endif
