/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/cgroup/container_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/*
 * Lengths of the UID of a pod: a UUID or, for a static pod (defined by a file on the
 * node), a digest without dashes.
 */
#define UUID_LENGTH 36
#define DIGEST_LENGTH 32

/*
 * Prefixes of container IDs in cgroup names, and the runtime that uses each prefix. A
 * conmon process monitors a container, and its cgroup is named after the container's ID.
 */
static const struct {
	const char *prefix;
	/*
	 * name of the runtime; NULL: the cgroup of conmon, the process that
	 * monitors a container
	 */
	const char *runtime;
} prefixes[] = {
	{ "docker", "docker" },	     { "cri-containerd", "containerd" },
	{ "nerdctl", "containerd" }, { "crio", "cri-o" },
	{ "libpod", "podman" },	     { "crio-conmon", NULL },
	{ "libpod-conmon", NULL },
};

/* A substring of a cgroup path: a whole path component, or its beginning or end. */
struct part {
	const char *text;
	size_t length;
};

static bool is_text(struct part part, const char *text)
{
	return part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

static bool begins_with(struct part part, const char *text)
{
	return part.length >= strlen(text) && memcmp(part.text, text, strlen(text)) == 0;
}

static bool ends_with(struct part part, const char *text)
{
	size_t length = strlen(text);

	return part.length >= length &&
	       memcmp(part.text + part.length - length, text, length) == 0;
}

static bool contains(struct part part, const char *text)
{
	return memmem(part.text, part.length, text, strlen(text)) != NULL;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static void set(char **to, const char *text, size_t length)
{
	free(*to);
	*to = text ? xstrndup(text, length) : NULL;
}

static void set_text(char **to, const char *text)
{
	set(to, text, text ? strlen(text) : 0);
}

/*
 * Find the container ID in a path component: the whole component, or the part after a "-"
 * or ":".
 */
static bool find_id(struct part part, struct part *ret_prefix, struct part *ret_id)
{
	size_t before;

	if (ends_with(part, ".scope"))
		part.length -= strlen(".scope");
	if (part.length < CONTAINER_ID_LENGTH)
		return false;
	before = part.length - CONTAINER_ID_LENGTH;
	for (size_t i = before; i < part.length; i++)
		if (!is_hex(part.text[i]))
			return false;
	if (before > 0 && part.text[before - 1] != '-' && part.text[before - 1] != ':')
		return false;
	*ret_id = (struct part){ part.text + before, CONTAINER_ID_LENGTH };
	*ret_prefix = (struct part){ part.text, before > 0 ? before - 1 : 0 };
	return true;
}

/*
 * Return the text after the last colon, such as "cri-containerd"
 * in "kubepods-…-podUID.slice:cri-containerd".
 */
static struct part last_word(struct part part)
{
	const char *colon = memrchr(part.text, ':', part.length);
	size_t length = colon ? (size_t)(part.text + part.length - colon - 1)
			      : part.length;

	return (struct part){ part.text + part.length - length, length };
}

/*
 * Return the container runtime that created the cgroup, judging by the prefix of the
 * container ID or by the name of the parent cgroup.
 */
static const char *find_runtime(struct part prefix, struct part above, bool is_pod)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (is_text(prefix, prefixes[i].prefix))
			return prefixes[i].runtime;
	if (is_text(above, "docker"))
		return "docker";
	if (is_text(above, "libpod_parent"))
		return "podman";
	return is_pod ? "cri" : NULL;
}

static bool is_conmon(struct part prefix)
{
	return ends_with(prefix, "-conmon");
}

static void set_id(struct part prefix, struct part id, struct part above, char **names)
{
	set(&names[CGROUP_NAME_CONTAINER_ID], id.text, id.length);
	set_text(&names[CGROUP_NAME_RUNTIME],
		 find_runtime(prefix, above, names[CGROUP_NAME_POD_UID] != NULL));
	set_text(&names[CGROUP_NAME_CONTAINER], NULL);
	/* a systemd unit earlier in the path belongs to an ancestor of the cgroup */
	set_text(&names[CGROUP_NAME_UNIT], NULL);
}

/*
 * Find the UID of a pod in "podUID" or "…-podUID.slice". The UID may
 * contain "_" instead of "-".
 */
static bool find_pod_uid(struct part part, struct part *ret)
{
	const char *at = part.text, *end = part.text + part.length;

	while ((at = memmem(at, (size_t)(end - at), "pod", 3))) {
		size_t length = 0;
		bool begins = at == part.text || at[-1] == '-';

		at += 3;
		while (at + length < end &&
		       (is_hex(at[length]) || at[length] == '_' || at[length] == '-'))
			length++;
		if (begins && (length == UUID_LENGTH || length == DIGEST_LENGTH)) {
			*ret = (struct part){ at, length };
			return true;
		}
	}
	return false;
}

static void set_pod(struct part uid, struct part whole, char **names)
{
	/* the pod runs inside the container found so far, so discard that container */
	cgroup_names_clear(names);
	names[CGROUP_NAME_POD_UID] = xstrndup(uid.text, uid.length);
	for (size_t i = 0; i < uid.length; i++)
		if (uid.text[i] == '_')
			names[CGROUP_NAME_POD_UID][i] = '-';
	set_text(&names[CGROUP_NAME_QOS], contains(whole, "besteffort")	 ? "besteffort"
					  : contains(whole, "burstable") ? "burstable"
									 : "guaranteed");
}

/* Find the name of an LXC container. LXC containers have no ID. */
static bool find_lxc(struct part part, struct part above, struct part *ret)
{
	static const char payload[] = "lxc.payload.";

	*ret = part;
	if (begins_with(part, payload)) {
		ret->text += strlen(payload);
		ret->length -= strlen(payload);
		return true;
	}
	return is_text(above, "lxc") || is_text(above, "lxc.payload");
}

static void set_part_name(struct part part, struct part above, struct part whole,
			  char **names)
{
	struct part prefix, id, found;

	if (contains(whole, "kubepods") && find_pod_uid(part, &found))
		set_pod(found,
			(struct part){ whole.text,
				       (size_t)(part.text + part.length - whole.text) },
			names);
	if (find_id(part, &prefix, &id)) {
		prefix = last_word(prefix);
		if (is_conmon(prefix))
			set(&names[CGROUP_NAME_UNIT], part.text, part.length);
		else
			set_id(prefix, id, above, names);
	} else if (find_lxc(part, above, &found)) {
		cgroup_names_clear(names);
		set_text(&names[CGROUP_NAME_RUNTIME], "lxc");
		set(&names[CGROUP_NAME_CONTAINER], found.text, found.length);
	} else if (ends_with(part, ".service") || ends_with(part, ".scope")) {
		set(&names[CGROUP_NAME_UNIT], part.text, part.length);
	}
}

void container_names_find(const char *path, char **names)
{
	struct part whole = { path, strlen(path) }, above = { path, 0 };

	cgroup_names_clear(names);
	for (const char *at = path; *at;) {
		struct part part = { at, strcspn(at, "/") };

		if (part.length > 0) {
			set_part_name(part, above, whole, names);
			above = part;
		}
		at += part.length + (at[part.length] == '/');
	}
}

static void set_unless_known(char **to, struct part part)
{
	if (!*to && part.length > 0)
		set(to, part.text, part.length);
}

bool container_names_parse_kubelet(const char *name, char **names)
{
	enum {
		CONTAINER,
		POD,
		NAMESPACE,
		UID,
		ATTEMPT,
		COUNT
	};
	struct part parts[COUNT];
	const char *at = name;

	if (strncmp(name, "k8s_", 4) != 0)
		return false;
	at += 4;
	for (size_t i = 0; i < COUNT; i++) {
		parts[i] = (struct part){ at, strcspn(at, "_") };
		if (parts[i].length == 0 ||
		    (at[parts[i].length] == '_') != (i + 1 < COUNT))
			return false;
		at += parts[i].length + 1;
	}
	set_unless_known(&names[CGROUP_NAME_CONTAINER], parts[CONTAINER]);
	set_unless_known(&names[CGROUP_NAME_POD], parts[POD]);
	set_unless_known(&names[CGROUP_NAME_NAMESPACE], parts[NAMESPACE]);
	set_unless_known(&names[CGROUP_NAME_POD_UID], parts[UID]);
	return true;
}
