# One static library per layer, lowest first. A layer's unit test links only that layer and the
# ones below it, so a call in the wrong direction does not link.
include src/base/local.mk
include src/model/local.mk
include src/proc/local.mk
include src/tracee/local.mk
include src/walk/local.mk
include src/agent/local.mk
include src/probe/local.mk
include src/classify/local.mk
include src/store/local.mk
include src/sample/local.mk
include src/render/local.mk
if HAVE_NCURSES
include src/ui/local.mk
endif

include src/cmd/local.mk

bin_PROGRAMS += memstate
memstate_SOURCES = %D%/memstate.c
memstate_LDADD = $(CMD_LIBS)
