# Demo process to observe: memstate -- ./memstate-demo
noinst_PROGRAMS += memstate-demo
memstate_demo_SOURCES = %D%/demo.c
memstate_demo_CFLAGS = $(WARN_CFLAGS) -pthread
memstate_demo_LDFLAGS = -pthread
