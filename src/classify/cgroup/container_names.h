/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_names - derive the names of the container, pod and systemd unit from a cgroup
 * path, according to the naming schemes of Docker, containerd, CRI-O, podman, LXC,
 * kubelet and systemd. The functions are pure.
 */
#ifndef MS_CLASSIFY_CGROUP_CONTAINER_NAMES_H
#define MS_CLASSIFY_CGROUP_CONTAINER_NAMES_H

#include "model/cgroup.h"

#define CONTAINER_ID_LENGTH 64

/*
 * Set names[] from a cgroup path as found in /proc/PID/cgroup. Set names that the
 * path does not contain to NULL. For nested containers, set the names of the
 * innermost container.
 */
void container_names_find(const char *path, char **names);

/*
 * Parse a container name in the form that kubelet passes to container runtimes,
 * "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT". Set only those names that are still NULL.
 * Return false if the name has a different form.
 */
bool container_names_parse_kubelet(const char *name, char **names);

#endif
