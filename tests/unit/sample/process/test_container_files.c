/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files as kubelet, Docker, podman and CRI-O store them, in a
 * root folder made by the test.
 */
#include "config.h"

#include "sample/process/container_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "classify/cgroup/container_names.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "4a163a05-439d-484b-8e53-2968bc15824f"

static struct tree tree;
static struct procfs fs;
static char *names[CGROUP_NAME_COUNT_];

static int begin(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_write(&tree, "proc/1/root/etc/passwd",
		   "root:x:0:0:root:/root:/bin/sh\nbroken\n"
		   "anna:x:1000:1000:Anna:/home/anna:/bin/sh\n");
	fs = (struct procfs)PROCFS_INIT;
	return 0;
}

static int end(void **state)
{
	(void)state;
	cgroup_names_clear(names);
	procfs_release(&fs);
	tree_remove(&tree);
	return 0;
}

static void find(const char *path)
{
	char proc[64];
	int root_fd;

	snprintf(proc, sizeof(proc), "%s/proc", tree.root);
	if (fs.fd < 0)
		assert_int_equal(procfs_open(&fs, proc), 0);
	container_names_find(path, names);
	root_fd = container_files_open_root(&fs);
	assert_true(root_fd >= 0);
	container_files_find(root_fd, path, names);
	close(root_fd);
}

static void write_file(const char *path, const char *text)
{
	struct strbuf below = STRBUF_INIT;

	strbuf_addf(&below, "proc/1/root/%s", path);
	tree_write(&tree, below.text, text);
	strbuf_release(&below);
}

static void assert_name(const char *got, const char *want)
{
	assert_string_equal(got ? got : "unknown", want ? want : "unknown");
}

static void assert_names(const char *container, const char *pod, const char *namespace)
{
	assert_name(names[CGROUP_NAME_CONTAINER], container);
	assert_name(names[CGROUP_NAME_POD], pod);
	assert_name(names[CGROUP_NAME_NAMESPACE], namespace);
}

static void kubelet_logs_name_container_and_pod(void **state)
{
	(void)state;
	write_file("var/log/containers/web-1_shop_app-" OTHER ".log", "");
	write_file("var/log/containers/web-0_shop_app-" ID ".log", "");
	write_file("var/log/containers/web-0_shop_side-car-" OTHER ".log", "");
	find("/kubepods/burstable/pod" UID "/" ID);
	assert_names("app", "web-0", "shop");
}

static void the_log_folder_names_the_pod(void **state)
{
	(void)state;
	write_file(
		"var/log/pods/shop_web-1_4a163a05-439d-484b-8e53-2968bc15824e/app/0.log",
		"");
	write_file("var/log/pods/shop_web-0_" UID "/app/0.log", "");
	find("/kubepods/burstable/pod" UID);
	assert_names(NULL, "web-0", "shop");
	/* the pause container, which only holds the pod's namespaces, has no log */
	find("/kubepods/burstable/pod" UID "/" ID);
	assert_names(NULL, "web-0", "shop");
}

static void docker_has_a_file_for_each_container(void **state)
{
	(void)state;
	write_file("var/lib/docker/containers/" ID "/config.v2.json",
		   "{\"State\":{\"Name\":\"no\"},\"ID\":\"" ID
		   "\",\"Name\":\"/web \\u20ac\"}");
	find("/docker/" ID);
	assert_names("web \xe2\x82\xac", NULL, NULL);
	assert_name(names[CGROUP_NAME_RUNTIME], "docker");
	/* also if the path does not name the runtime */
	find("/ecs/task/" ID);
	assert_names("web \xe2\x82\xac", NULL, NULL);
	assert_name(names[CGROUP_NAME_RUNTIME], "docker");
}

static void docker_names_from_kubelet_are_split(void **state)
{
	(void)state;
	write_file("var/lib/docker/containers/" ID "/config.v2.json",
		   "{\"Name\":\"/k8s_app_web-0_shop_" UID "_4\"}");
	find("/kubepods.slice/kubepods-pod4a163a05_439d_484b_8e53_2968bc15824f.slice/docker-" ID
	     ".scope");
	assert_names("app", "web-0", "shop");
}

static void podman_has_one_file_for_all_containers(void **state)
{
	(void)state;
	write_file("var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" OTHER "\",\"names\":[\"other\"]},{\"id\":\"" ID
		   "\",\"names\":[\"db\",\"alias\"],\"layer\":\"x\"}]");
	find("/machine.slice/libpod-" ID ".scope/container");
	assert_names("db", NULL, NULL);
}

static void rootless_containers_are_found_in_the_users_home(void **state)
{
	(void)state;
	write_file(
		"home/anna/.local/share/containers/storage/overlay-containers/containers.json",
		"[{\"id\":\"" ID "\",\"names\":[\"annas\"]}]");
	find("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	     ".scope");
	assert_names("annas", NULL, NULL);
	find("/user.slice/user-1001.slice/user@1001.service/user.slice/libpod-" ID
	     ".scope");
	assert_names(NULL, NULL, NULL);
}

static void malformed_files_give_no_names(void **state)
{
	static const char *const texts[] = {
		"",	   "{", "[]", "{\"Name\":5}", "{\"Name\":\"", "{\"Name\":\"\\",
		"\xff\xfe"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_file("var/lib/docker/containers/" ID "/config.v2.json", texts[i]);
		write_file(
			"var/lib/containers/storage/overlay-containers/containers.json",
			texts[i]);
		find("/docker/" ID);
		assert_names(NULL, NULL, NULL);
	}
	write_file("var/log/containers/_-" ID ".log", "");
	write_file("var/log/containers/-" ID ".log", "");
	write_file("var/log/pods/_" UID "/x", "");
	write_file("var/log/pods/" UID "/x", "");
	find("/kubepods/pod" UID "/" ID);
	assert_names(NULL, NULL, NULL);
}

static void a_pipe_instead_of_a_file_does_not_block(void **state)
{
	(void)state;
	write_file("var/lib/docker/containers/" ID "/x", "");
	tree_mkfifo(&tree, "proc/1/root/var/lib/docker/containers/" ID "/config.v2.json");
	find("/docker/" ID);
	assert_names(NULL, NULL, NULL);
}

static void symlinks_cannot_leave_the_root(void **state)
{
	char outside[96], link[256];

	(void)state;
	tree_write(&tree, "outside/config.v2.json", "{\"Name\":\"/outside\"}");
	write_file("var/lib/docker/containers/x", "");
	snprintf(outside, sizeof(outside), "%s/outside", tree.root);
	snprintf(link, sizeof(link), "%s/proc/1/root/var/lib/docker/containers/" ID,
		 tree.root);
	assert_int_equal(symlink(outside, link), 0);
	find("/docker/" ID);
	assert_names(NULL, NULL, NULL);
}

static void the_host_name_of_a_container_names_the_pod(void **state)
{
	char own[256] = "";

	(void)state;
	find("/kubepods/pod" UID "/" ID);
	tree_write(&tree, "proc/7/root/etc/hostname", "web-0\n");
	container_files_find_pod(&fs, 7, names);
	assert_names(NULL, "web-0", NULL);
	/* a process in the machine's own network namespace has the machine's host name */
	find("/kubepods/pod" UID "/" ID);
	gethostname(own, sizeof(own) - 1);
	tree_write(&tree, "proc/7/root/etc/hostname", own);
	container_files_find_pod(&fs, 7, names);
	assert_names(NULL, NULL, NULL);
	tree_write(&tree, "proc/7/root/etc/hostname", "web\x1b[2J");
	container_files_find_pod(&fs, 7, names);
	assert_names(NULL, NULL, NULL);
}

/* The process may have made etc/hostname a link to a file that only root can read. */
static void a_host_name_that_not_everybody_can_read_is_not_used(void **state)
{
	char path[256];

	(void)state;
	find("/kubepods/pod" UID "/" ID);
	tree_write(&tree, "proc/7/root/etc/hostname", "web-0\n");
	snprintf(path, sizeof(path), "%s/proc/7/root/etc/hostname", tree.root);
	assert_int_equal(chmod(path, 0640), 0);
	container_files_find_pod(&fs, 7, names);
	assert_names(NULL, NULL, NULL);
	assert_int_equal(chmod(path, 0644), 0);
	container_files_find_pod(&fs, 7, names);
	assert_names(NULL, "web-0", NULL);
}

static void a_captured_tree_has_no_container_files(void **state)
{
	char proc[64];

	(void)state;
	tree_delete(&tree, "proc/1/root");
	snprintf(proc, sizeof(proc), "%s/proc", tree.root);
	assert_int_equal(procfs_open(&fs, proc), 0);
	assert_int_equal(container_files_open_root(&fs), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kubelet_logs_name_container_and_pod,
						begin, end),
		cmocka_unit_test_setup_teardown(the_log_folder_names_the_pod, begin, end),
		cmocka_unit_test_setup_teardown(docker_has_a_file_for_each_container,
						begin, end),
		cmocka_unit_test_setup_teardown(docker_names_from_kubelet_are_split,
						begin, end),
		cmocka_unit_test_setup_teardown(podman_has_one_file_for_all_containers,
						begin, end),
		cmocka_unit_test_setup_teardown(
			rootless_containers_are_found_in_the_users_home, begin, end),
		cmocka_unit_test_setup_teardown(malformed_files_give_no_names, begin,
						end),
		cmocka_unit_test_setup_teardown(a_pipe_instead_of_a_file_does_not_block,
						begin, end),
		cmocka_unit_test_setup_teardown(symlinks_cannot_leave_the_root, begin,
						end),
		cmocka_unit_test_setup_teardown(
			a_host_name_that_not_everybody_can_read_is_not_used, begin, end),
		cmocka_unit_test_setup_teardown(
			the_host_name_of_a_container_names_the_pod, begin, end),
		cmocka_unit_test_setup_teardown(a_captured_tree_has_no_container_files,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
