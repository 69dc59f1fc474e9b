/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_names - what the path of a group says of the container, the pod and the unit
 * that it is for, as Docker, containerd, CRI-O, podman, LXC, kubelet and systemd name
 * groups. Pure.
 */
#ifndef MS_CLASSIFY_CONTAINER_NAMES_H
#define MS_CLASSIFY_CONTAINER_NAMES_H

#include "model/cgroup.h"

#define CONTAINER_ID_LENGTH 64

/*
 * path: as in /proc/PID/cgroup. Names in *names that it says nothing of become NULL. Of
 * containers within each other the innermost one is meant.
 */
void container_names_find(const char *path, char **names);

/*
 * "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT", as kubelet has its runtimes call containers:
 * names that are not known yet are set. Returns whether it is such a name.
 */
bool container_names_take_kubelets(const char *name, char **names);

#endif
