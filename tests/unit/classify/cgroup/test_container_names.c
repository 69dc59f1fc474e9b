/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/cgroup/container_names.h"

#include <string.h>

#include "../../support/unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "4a163a05-439d-484b-8e53-2968bc15824f"
#define UID_ "4a163a05_439d_484b_8e53_2968bc15824f"

struct row {
	const char *path;
	const char *want[CGROUP_NAME_COUNT_];
};

static void check_name(const char *path, const char *what, const char *got,
		       const char *want)
{
	if ((got == NULL) != (want == NULL) || (got && strcmp(got, want) != 0))
		fail_msg("%s: %s is %s, not %s", path, what, got ? got : "unknown",
			 want ? want : "unknown");
}

static void check_rows(const struct row *rows, size_t count)
{
	char *n[CGROUP_NAME_COUNT_] = { NULL };

	for (size_t i = 0; i < count; i++) {
		const char *const *want = rows[i].want;
		const char *path = rows[i].path;

		container_names_find(path, n);
		check_name(path, "runtime", n[CGROUP_NAME_RUNTIME],
			   want[CGROUP_NAME_RUNTIME]);
		check_name(path, "id", n[CGROUP_NAME_CONTAINER_ID],
			   want[CGROUP_NAME_CONTAINER_ID]);
		check_name(path, "container", n[CGROUP_NAME_CONTAINER],
			   want[CGROUP_NAME_CONTAINER]);
		check_name(path, "pod's uid", n[CGROUP_NAME_POD_UID],
			   want[CGROUP_NAME_POD_UID]);
		check_name(path, "qos", n[CGROUP_NAME_QOS], want[CGROUP_NAME_QOS]);
		check_name(path, "unit", n[CGROUP_NAME_UNIT], want[CGROUP_NAME_UNIT]);
	}
	cgroup_names_clear(n);
}

static char id[] = ID, uid[] = UID;
static char docker[] = "docker", containerd[] = "containerd", crio[] = "cri-o",
	    podman[] = "podman";
static char cri[] = "cri", lxc[] = "lxc";
static char burstable[] = "burstable", besteffort[] = "besteffort",
	    guaranteed[] = "guaranteed";

#define CONTAINER(rt)                                                         \
	{                                                                     \
		[CGROUP_NAME_RUNTIME] = (rt), [CGROUP_NAME_CONTAINER_ID] = id \
	}
#define OF_POD(rt, q)                                                          \
	{                                                                      \
		[CGROUP_NAME_RUNTIME] = (rt), [CGROUP_NAME_CONTAINER_ID] = id, \
		[CGROUP_NAME_POD_UID] = uid, [CGROUP_NAME_QOS] = (q)           \
	}

static void containers_and_pods_are_identified_by_their_paths(void **state)
{
	static char digest[] = "7260904bbd08e72e4dff95d9fccd2ee8";
	const struct row rows[] = {
		{ "/docker/" ID, CONTAINER(docker) },
		{ "/system.slice/docker-" ID ".scope", CONTAINER(docker) },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID
		  ".scope",
		  CONTAINER(docker) },
		{ "/kubepods/burstable/pod" UID "/" ID, OF_POD(cri, burstable) },
		{ "/kubepods/pod" UID "/" ID, OF_POD(cri, guaranteed) },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  OF_POD(containerd, burstable) },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
		  ".slice/docker-" ID ".scope",
		  OF_POD(docker, besteffort) },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope",
		  OF_POD(crio, guaranteed) },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod7260904bbd08e72e4dff95d9fccd2ee8.slice/"
		  "cri-containerd-" ID ".scope",
		  { [CGROUP_NAME_RUNTIME] = containerd,
		    [CGROUP_NAME_CONTAINER_ID] = id,
		    [CGROUP_NAME_POD_UID] = digest,
		    [CGROUP_NAME_QOS] = burstable } },
		{ "/system.slice/containerd.service/kubepods-besteffort-pod" UID_
		  ".slice:cri-containerd:" ID,
		  OF_POD(containerd, besteffort) },
		{ "/machine.slice/libpod-" ID ".scope/container", CONTAINER(podman) },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		  ".scope",
		  CONTAINER(podman) },
		{ "/libpod_parent/libpod-" ID, CONTAINER(podman) },
		{ "/kubepods/besteffort/pod" UID "/crio-" ID, OF_POD(crio, besteffort) },
		{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  OF_POD(containerd, guaranteed) },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void the_innermost_container_is_found(void **state)
{
	const struct row rows[] = {
		{ "/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/"
		  "kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  OF_POD(containerd, burstable) },
		{ "/kubepods/burstable/pod" UID "/" OTHER "/docker/" ID,
		  OF_POD(docker, burstable) },
		{ "/docker/" ID "/system.slice", CONTAINER(docker) },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void a_container_monitor_is_not_a_container(void **state)
{
	static char own[] = "libpod-conmon-" ID ".scope",
		    scope[] = "crio-conmon-" ID ".scope";
	const struct row rows[] = {
		{ "/machine.slice/libpod-conmon-" ID ".scope",
		  { [CGROUP_NAME_UNIT] = own } },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope",
		  { [CGROUP_NAME_POD_UID] = uid,
		    [CGROUP_NAME_QOS] = guaranteed,
		    [CGROUP_NAME_UNIT] = scope } },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void systemd_units_and_lxc_containers_have_names(void **state)
{
	static char nginx[] = "nginx.service", web[] = "web1",
		    session[] = "session-3.scope";
	static char app[] = "app-firefox.scope";
	const struct row rows[] = {
		{ "/system.slice/nginx.service", { [CGROUP_NAME_UNIT] = nginx } },
		{ "/user.slice/user-1000.slice/session-3.scope",
		  { [CGROUP_NAME_UNIT] = session } },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox.scope",
		  { [CGROUP_NAME_UNIT] = app } },
		{ "/lxc.payload.web1/system.slice/nginx.service",
		  { [CGROUP_NAME_RUNTIME] = lxc,
		    [CGROUP_NAME_CONTAINER] = web,
		    [CGROUP_NAME_UNIT] = nginx } },
		{ "/lxc.payload.web1",
		  { [CGROUP_NAME_RUNTIME] = lxc, [CGROUP_NAME_CONTAINER] = web } },
		{ "/lxc/web1",
		  { [CGROUP_NAME_RUNTIME] = lxc, [CGROUP_NAME_CONTAINER] = web } },
		{ "/system.slice/docker-" ID ".scope/system.slice/nginx.service",
		  { [CGROUP_NAME_RUNTIME] = docker,
		    [CGROUP_NAME_CONTAINER_ID] = id,
		    [CGROUP_NAME_UNIT] = nginx } },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void similar_paths_give_no_names(void **state)
{
	static char upper[] =
		"docker-0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef.scope";
	const struct row rows[] = {
		{ "", { 0 } },
		{ "/", { 0 } },
		{ "//", { 0 } },
		{ "/docker", { 0 } },
		{ "/docker/0123456789ab", { 0 } },
		{ "/docker/" ID "0", { 0 } },
		{ "/docker/x" ID, { 0 } },
		{ "/user.slice", { 0 } },
		{ "/kubepods", { 0 } },
		{ "/kubepods.slice/kubepods-burstable.slice", { 0 } },
		{ "/kubepods/podinfo", { 0 } },
		{ "/pod" UID, { 0 } },
		{ "/system.slice/docker-0123456789ABCDEF0123456789abcdef0123456789abcdef"
		  "0123456789abcdef.scope",
		  { [CGROUP_NAME_UNIT] = upper } },
		{ "/somebodys/" ID, { [CGROUP_NAME_CONTAINER_ID] = id } },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void a_pods_own_group_is_not_a_container(void **state)
{
	const struct row rows[] = {
		{ "/kubepods/burstable/pod" UID,
		  { [CGROUP_NAME_POD_UID] = uid, [CGROUP_NAME_QOS] = burstable } },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice",
		  { [CGROUP_NAME_POD_UID] = uid, [CGROUP_NAME_QOS] = guaranteed } },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void a_kubelet_name_is_split_into_its_parts(void **state)
{
	char *n[CGROUP_NAME_COUNT_] = { NULL };

	(void)state;
	assert_true(container_names_parse_kubelet("k8s_app_web-0_shop_" UID "_3", n));
	check_name("", "container", n[CGROUP_NAME_CONTAINER], "app");
	check_name("", "pod", n[CGROUP_NAME_POD], "web-0");
	check_name("", "namespace", n[CGROUP_NAME_NAMESPACE], "shop");
	check_name("", "uid", n[CGROUP_NAME_POD_UID], UID);
	/* names that are already known are not replaced */
	assert_true(container_names_parse_kubelet("k8s_other_web-1_x_y_0", n));
	check_name("", "container", n[CGROUP_NAME_CONTAINER], "app");
	cgroup_names_clear(n);
}

static void other_names_are_not_split(void **state)
{
	static const char *const names[] = {
		"", "web", "k8s_", "k8s_a_b_c_d", "k8s_a__c_d_0", "k8s_a_b_c_d_0_e"
	};
	char *n[CGROUP_NAME_COUNT_] = { NULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_row(!container_names_parse_kubelet(names[i], n), names[i]);
		assert_row(!n[CGROUP_NAME_CONTAINER], names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_and_pods_are_identified_by_their_paths),
		cmocka_unit_test(the_innermost_container_is_found),
		cmocka_unit_test(a_container_monitor_is_not_a_container),
		cmocka_unit_test(systemd_units_and_lxc_containers_have_names),
		cmocka_unit_test(similar_paths_give_no_names),
		cmocka_unit_test(a_pods_own_group_is_not_a_container),
		cmocka_unit_test(a_kubelet_name_is_split_into_its_parts),
		cmocka_unit_test(other_names_are_not_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
