noinst_LIBRARIES += %D%/libproc.a
%C%_libproc_a_SOURCES = \
	%D%/cgroup/cgroup.c \
	%D%/cgroup/cgroup.h \
	%D%/cgroup/events.c \
	%D%/cgroup/events.h \
	%D%/cgroup/knob.c \
	%D%/cgroup/knob.h \
	%D%/cgroup/mount.c \
	%D%/cgroup/mount.h \
	%D%/cgroup/oom_marks.c \
	%D%/cgroup/oom_marks.h \
	%D%/cgroup/open.c \
	%D%/cgroup/parse.c \
	%D%/cgroup/parse.h \
	%D%/cgroup/pids.c \
	%D%/cgroup/pids.h \
	%D%/cgroup/reader.h \
	%D%/cgroup/room.c \
	%D%/cgroup/room.h \
	%D%/cgroup/tmpfs_files.c \
	%D%/cgroup/tmpfs_files.h \
	%D%/kmsg/group.c \
	%D%/kmsg/group.h \
	%D%/kmsg/kmsg.c \
	%D%/kmsg/kmsg.h \
	%D%/kmsg/log.c \
	%D%/kmsg/log.h \
	%D%/kmsg/machine.c \
	%D%/kmsg/machine.h \
	%D%/kmsg/oom.c \
	%D%/kmsg/oom.h \
	%D%/kmsg/printk_clock.c \
	%D%/kmsg/printk_clock.h \
	%D%/kmsg/split.c \
	%D%/kmsg/split.h \
	%D%/kmsg/stamp.c \
	%D%/kmsg/stamp.h \
	%D%/kmsg/table.c \
	%D%/kmsg/table.h \
	%D%/kmsg/victim.c \
	%D%/kmsg/victim.h \
	%D%/process/cost.c \
	%D%/process/cost.h \
	%D%/process/dir.c \
	%D%/process/dir.h \
	%D%/process/file.c \
	%D%/process/file.h \
	%D%/process/list.c \
	%D%/process/list.h \
	%D%/process/own.c \
	%D%/process/own.h \
	%D%/process/pids.h \
	%D%/process/stat.c \
	%D%/process/stat.h \
	%D%/process/status.c \
	%D%/process/status.h \
	%D%/process/task.c \
	%D%/process/task.h \
	%D%/process/tracer.c \
	%D%/process/tracer.h \
	%D%/smaps/layout.c \
	%D%/smaps/layout.h \
	%D%/smaps/maps.c \
	%D%/smaps/maps.h \
	%D%/smaps/parse.c \
	%D%/smaps/parse.h \
	%D%/smaps/smaps.c \
	%D%/smaps/smaps.h \
	%D%/system/file.c \
	%D%/system/file.h \
	%D%/system/foreign_file.c \
	%D%/system/foreign_file.h \
	%D%/system/kernel_files.c \
	%D%/system/kernel_files.h \
	%D%/system/local_devices.c \
	%D%/system/local_devices.h \
	%D%/system/local_mount.c \
	%D%/system/local_mount.h \
	%D%/system/meminfo.c \
	%D%/system/meminfo.h \
	%D%/system/mounts.c \
	%D%/system/mounts.h \
	%D%/system/procfs.c \
	%D%/system/procfs.h \
	%D%/system/vmstat.c \
	%D%/system/vmstat.h
%C%_libproc_a_CFLAGS = $(AM_CFLAGS) $(LIBPROC2_CFLAGS)
PROC_LIBS = %D%/libproc.a $(MODEL_LIBS) $(LIBPROC2_LIBS)

if HAVE_LIBPROC2
%C%_libproc_a_SOURCES += %D%/process/pids.c
endif
EXTRA_DIST += %D%/process/pids.c
