/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources of the file formats: kubelet's pkg/kubelet/kuberuntime/legacy.go and
 * kuberuntime_container.go for names below /var/log; moby's daemon/config and
 * container/container.go for config.v2.json; containers/storage's containers.go
 * for containers.json.
 */
#include "config.h"

#include "sample/process/container_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_read.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "classify/cgroup/container_names.h"
#include "proc/process/dir.h"
#include "proc/system/foreign_file.h"

#define LOGS_DIR "var/log/containers"
#define PODS_DIR "var/log/pods"
#define ENTRIES_MAX 100000
#define FILE_BYTES_MAX (16 * MIB)
/* Maximum length of a DNS host name, and thus of the name of a pod. */
#define HOST_NAME_MAX_ 253
#define HOME_DIR ".local/share/"

/*
 * Files of the container runtimes, relative to /var/lib for root and to ~/.local/share
 * for other users.
 */
#define DOCKER_DIR "docker/containers"
static const char *const podman_files[] = {
	"containers/storage/overlay-containers/containers.json",
	"containers/storage/vfs-containers/containers.json",
};

struct search {
	int root_fd;
	/*
	 * home directory of the user who runs the container, relative to the root,
	 * or NULL
	 */
	const char *home;
	char **names;
};

int container_files_open_root(const struct procfs *fs)
{
	int fd = proc_dir_open_root(fs, 1);

	if (fd >= 0 || !fs->is_live)
		return fd;
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void set(char **to, const char *text, size_t length)
{
	if (!*to && length > 0)
		*to = xstrndup(text, length);
}

/*
 * Parse "POD_NAMESPACE_CONTAINER-ID.log". Return true if it contains the container's ID.
 */
static bool match_log(const struct search *s, const char *entry)
{
	size_t length = strlen(entry), tail = CONTAINER_ID_LENGTH + strlen("-.log");
	const char *pod_end = strchr(entry, '_');
	const char *namespace_end = pod_end ? strchr(pod_end + 1, '_') : NULL;
	const char *end = entry + length - tail;

	if (length <= tail || !namespace_end || namespace_end + 1 >= end || *end != '-' ||
	    strcmp(entry + length - 4, ".log") != 0 ||
	    memcmp(end + 1, s->names[CGROUP_NAME_CONTAINER_ID], CONTAINER_ID_LENGTH) != 0)
		return false;
	set(&s->names[CGROUP_NAME_POD], entry, (size_t)(pod_end - entry));
	set(&s->names[CGROUP_NAME_NAMESPACE], pod_end + 1,
	    (size_t)(namespace_end - pod_end - 1));
	set(&s->names[CGROUP_NAME_CONTAINER], namespace_end + 1,
	    (size_t)(end - namespace_end - 1));
	return true;
}

/* Parse "NAMESPACE_POD_UID". Return true if it contains the pod's UID. */
static bool match_pod(const struct search *s, const char *entry)
{
	const char *namespace_end = strchr(entry, '_');
	const char *pod_end = namespace_end ? strchr(namespace_end + 1, '_') : NULL;

	if (!pod_end || strcmp(pod_end + 1, s->names[CGROUP_NAME_POD_UID]) != 0)
		return false;
	set(&s->names[CGROUP_NAME_NAMESPACE], entry, (size_t)(namespace_end - entry));
	set(&s->names[CGROUP_NAME_POD], namespace_end + 1,
	    (size_t)(pod_end - namespace_end - 1));
	return true;
}

/* Call visit() with the name of each directory entry until it returns true. */
static void search_dir(const struct search *s, const char *path,
		       bool (*visit)(const struct search *, const char *))
{
	_cleanup_closedir_ DIR *dir = NULL;
	int fd = foreign_file_open_dir(s->root_fd, path);
	struct dirent *entry;

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	for (size_t i = 0; i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (visit(s, entry->d_name))
			return;
}

/*
 * Store the name of the container. A name assigned by kubelet also contains the names of
 * the pod and the namespace.
 */
static void set_name(const struct search *s, const char *name)
{
	if (name[0] == '/')
		name++;
	if (!container_names_parse_kubelet(name, s->names))
		set(&s->names[CGROUP_NAME_CONTAINER], name, strlen(name));
}

/*
 * Store the name of a container that Docker manages. Return false if Docker does not
 * manage the container.
 */
static bool use_docker(const struct search *s, const char *dir)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT,
				       name = STRBUF_INIT;
	struct json_part value;

	strbuf_addf(&path, "%s" DOCKER_DIR "/%s/config.v2.json", dir,
		    s->names[CGROUP_NAME_CONTAINER_ID]);
	if (foreign_file_read(s->root_fd, path.text, FILE_BYTES_MAX, &text) < 0)
		return false;
	if (json_find_member((struct json_part){ strbuf_text(&text), text.length },
			     "Name", &value) == 0 &&
	    json_read_text(value, &name) == 0)
		set_name(s, strbuf_text(&name));
	return true;
}

static bool is_string(struct json_part value, const char *text)
{
	return value.length == strlen(text) + 2 &&
	       memcmp(value.text + 1, text, strlen(text)) == 0;
}

/*
 * Parse [{"id":"…","names":["web"],…},…]. Return true if it contains the container's ID.
 */
static bool use_podman(const struct search *s, const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, name = STRBUF_INIT;
	struct json_part all, container, value;
	size_t at = 0, first = 0;

	if (foreign_file_read(s->root_fd, path, FILE_BYTES_MAX, &text) < 0)
		return false;
	all = (struct json_part){ strbuf_text(&text), text.length };
	while (json_next_element(all, &at, &container) == 0) {
		if (json_find_member(container, "id", &value) < 0 ||
		    !is_string(value, s->names[CGROUP_NAME_CONTAINER_ID]))
			continue;
		if (json_find_member(container, "names", &value) == 0 &&
		    json_next_element(value, &first, &value) == 0 &&
		    json_read_text(value, &name) == 0)
			set_name(s, strbuf_text(&name));
		return true;
	}
	return false;
}

/*
 * Return the home directory of a user of the host, or NULL. The user's line in
 * /etc/passwd has the form "name:x:UID:GID:gecos:/home/name:/bin/sh".
 */
static char *find_home(int root_fd, uint64_t uid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char *line, *rest, *field;

	if (foreign_file_read(root_fd, "etc/passwd", FILE_BYTES_MAX, &text) < 0)
		return NULL;
	strbuf_text(&text);
	for (rest = text.text; rest && (line = strsep(&rest, "\n"));) {
		const char *fields[7] = { NULL };
		uint64_t number;

		for (size_t i = 0; i < 7 && (field = strsep(&line, ":")); i++)
			fields[i] = field;
		if (fields[5] && num_parse_u64(fields[2], &number) == 0 && number == uid)
			return xstrdup(fields[5]);
	}
	return NULL;
}

/*
 * Return the home directory of the user in a path such as
 * "/user.slice/user-1000.slice/…", below which users run their own containers. Return
 * NULL for other paths.
 */
static char *find_home_of(int root_fd, const char *path)
{
	static const char before[] = "/user-";
	const char *at = strstr(path, before);
	_cleanup_free_ char *digits = NULL;
	uint64_t uid;

	if (!at)
		return NULL;
	at += strlen(before);
	digits = xstrndup(at, strcspn(at, "./"));
	return num_parse_u64(digits, &uid) < 0 ? NULL : find_home(root_fd, uid);
}

static bool search_podman(const struct search *s, const char *dir)
{
	for (size_t i = 0; i < sizeof(podman_files) / sizeof(podman_files[0]); i++) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

		strbuf_addf(&path, "%s%s", dir, podman_files[i]);
		if (use_podman(s, path.text))
			return true;
	}
	return false;
}

/* Search for the container's ID in the files of all runtimes. */
static void search_container(const struct search *s, const char *dir)
{
	char **runtime = &s->names[CGROUP_NAME_RUNTIME];

	if (use_docker(s, dir))
		set(runtime, "docker", strlen("docker"));
	else if (search_podman(s, dir))
		set(runtime, "podman", strlen("podman"));
}

void container_files_find(int root_fd, const char *path, char **names)
{
	struct search s = { .root_fd = root_fd, .names = names };
	bool has_id = names[CGROUP_NAME_CONTAINER_ID] &&
		      strlen(names[CGROUP_NAME_CONTAINER_ID]) == CONTAINER_ID_LENGTH;
	_cleanup_strbuf_ struct strbuf below_home = STRBUF_INIT;
	_cleanup_free_ char *home = NULL;

	if (names[CGROUP_NAME_POD_UID] && has_id)
		search_dir(&s, LOGS_DIR, match_log);
	if (names[CGROUP_NAME_POD_UID] && !names[CGROUP_NAME_POD])
		search_dir(&s, PODS_DIR, match_pod);
	if (!has_id || names[CGROUP_NAME_CONTAINER])
		return;
	search_container(&s, "var/lib/");
	if (names[CGROUP_NAME_CONTAINER])
		return;
	home = find_home_of(root_fd, path);
	if (!home)
		return;
	strbuf_addf(&below_home, "%s/" HOME_DIR, home);
	search_container(&s, strbuf_text(&below_home));
}

/*
 * Return true if the text consists of letters, digits, "-" and ".", as RFC 1123 requires
 * of host names.
 */
static bool is_host_name(const char *text)
{
	return strlen(text) <= HOST_NAME_MAX_ &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(text);
}

void container_files_find_pod(const struct procfs *fs, int pid, char **names)
{
	_cleanup_close_ int process_fd = -1;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char own[HOST_NAME_MAX_ + 1] = "";
	/* the process may have made etc/hostname a symlink to a secret file */
	const struct foreign_reader everyone = FOREIGN_READER_INIT;
	int root_fd;

	if (!names[CGROUP_NAME_POD_UID] || names[CGROUP_NAME_POD])
		return;
	if (fs->is_foreign) {
		process_fd = proc_dir_open_root(fs, pid);
		root_fd = process_fd;
	} else {
		process_fd = proc_dir_find(fs, pid);
		root_fd = FOREIGN_ROOT_OF(process_fd);
	}
	if (process_fd < 0 || foreign_file_read_for(&everyone, root_fd, "etc/hostname",
						    FILE_BYTES_MAX, &text) < 0)
		return;
	strbuf_truncate(&text, strcspn(strbuf_text(&text), "\n"));
	gethostname(own, sizeof(own) - 1);
	if (is_host_name(strbuf_text(&text)) && strcmp(strbuf_text(&text), own) != 0)
		set(&names[CGROUP_NAME_POD], text.text, text.length);
}
