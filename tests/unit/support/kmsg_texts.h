/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_texts - whole OOM reports of different kernels, for tests.
 */
#ifndef MS_TESTS_KMSG_TEXTS_H
#define MS_TESTS_KMSG_TEXTS_H

/* Linux 6.18, cgroup version 1, as dmesg prints it; some lines are left out. */
#define REPORT_618                                                                                       \
	"[  10.1] oom_target invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" \
	"[  10.2] CPU: 1 UID: 0 PID: 1812 Comm: oom_target Not tainted 6.18.44 #1\n"                     \
	"[  10.3]  </TASK>\n"                                                                            \
	"[  10.4] memory: usage 32768kB, limit 32768kB, failcnt 95\n"                                    \
	"[  10.5] memory+swap: usage 32768kB, limit 9007199254740988kB, failcnt 0\n"                     \
	"[  10.6] kmem: usage 3332kB, limit 9007199254740988kB, failcnt 0\n"                             \
	"[  10.7] Memory cgroup stats for /mstest:\n"                                                    \
	"[  10.8] cache 0\n"                                                                             \
	"[  10.8] rss 0\n"                                                                               \
	"[  10.8] hierarchical_memory_limit 33554432\n"                                                  \
	"[  10.8] total_cache 5242880\n"                                                                 \
	"[  10.8] total_rss 24899584\n"                                                                  \
	"[  10.8] total_shmem 5242880\n"                                                                 \
	"[  10.8] total_inactive_file 0\n"                                                               \
	"[  10.9] Tasks state (memory values in pages):\n"                                               \
	"[  10.9] [  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem "                  \
	"pgtables_bytes swapents oom_score_adj name\n"                                                   \
	"[  10.9] [   1812]     7  1812    12172     7643     6048      315      1280   106496"          \
	"        3           -50 a (b) c\n"                                                              \
	"[  11.0] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"         \
	"oom_memcg=/mstest,task_memcg=/mstest/kid,task=a (b) c,pid=1812,uid=0\n"                         \
	"[  11.1] Memory cgroup out of memory: Killed process 1812 (a (b) c) total-vm:48688kB, "         \
	"anon-rss:24192kB, file-rss:1260kB, shmem-rss:5120kB, UID:7 pgtables:104kB "                     \
	"oom_score_adj:-50\n"

/* RHEL 6 on a machine with pages of 4 KiB. */
static const char linux_2632[] =
	"Jan  2 03:04:05 h kernel: httpd invoked oom-killer: gfp_mask=0x201da, order=3, oom_adj=0, oom_score_adj=0\n"
	"Jan  2 03:04:05 h kernel: httpd cpuset=/ mems_allowed=0\n"
	"Jan  2 03:04:05 h kernel: Pid: 2592, comm: httpd Not tainted 2.6.32-431.el6.x86_64 #1\n"
	"Jan  2 03:04:05 h kernel: Mem-Info:\n"
	"Jan  2 03:04:05 h kernel: Node 0 DMA per-cpu:\n"
	"Jan  2 03:04:05 h kernel: CPU    0: hi:    0, btch:   1 usd:   0\n"
	"Jan  2 03:04:05 h kernel: active_anon:200000 inactive_anon:30000 isolated_anon:0\n"
	"Jan  2 03:04:05 h kernel: active_file:10 inactive_file:20 isolated_file:0\n"
	"Jan  2 03:04:05 h kernel: unevictable:0 dirty:0 writeback:0 unstable:0\n"
	"Jan  2 03:04:05 h kernel: free:1500 slab_reclaimable:900 slab_unreclaimable:4000\n"
	"Jan  2 03:04:05 h kernel: mapped:100 shmem:50 pagetables:700 bounce:0\n"
	"Jan  2 03:04:05 h kernel: Node 0 DMA free:4000kB min:40kB low:48kB high:60kB active_anon:8kB\n"
	"Jan  2 03:04:05 h kernel: lowmem_reserve[]: 0 990 990 990\n"
	"Jan  2 03:04:05 h kernel: Node 0 DMA32 free:2000kB min:3000kB low:3700kB high:4400kB active_anon:9kB\n"
	"Jan  2 03:04:05 h kernel: Free swap  = 12kB\n"
	"Jan  2 03:04:05 h kernel: Total swap = 524280kB\n"
	"Jan  2 03:04:05 h kernel: 262128 pages RAM\n"
	"Jan  2 03:04:05 h kernel: [ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name\n"
	"Jan  2 03:04:05 h kernel: [ 2592]    48  2592     2662      101   0     -17         -1000 httpd\n"
	"Jan  2 03:04:05 h kernel: Out of memory: Kill process 2592 (httpd) score 100 or sacrifice child\n"
	"Jan  2 03:04:05 h kernel: Killed process 2592, UID 48, (httpd) total-vm:10648kB, anon-rss:400kB, file-rss:4kB\n";

#endif
