/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_names - derive the container, pod and unit from the path of a
 * cgroup, following the naming of Docker, containerd, CRI-O, podman, LXC,
 * kubelet and systemd. Pure.
 */
#ifndef MS_CLASSIFY_CGROUP_CONTAINER_NAMES_H
#define MS_CLASSIFY_CGROUP_CONTAINER_NAMES_H

#include "model/cgroup.h"

#define CONTAINER_ID_LENGTH 64

/*
 * Set names[] from a cgroup path as in /proc/PID/cgroup. Names that the path does not
 * contain become NULL. If containers are nested, the names are the innermost container's.
 */
void container_names_find(const char *path, char **names);

/*
 * Parse a container name as kubelet passes it to container runtimes,
 * "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT". Set only names that are still NULL.
 * Return false if name has another form.
 */
bool container_names_parse_kubelet(const char *name, char **names);

#endif
