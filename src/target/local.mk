noinst_LIBRARIES += %D%/libtarget.a
%C%_libtarget_a_SOURCES = \
	%D%/peek.c \
	%D%/peek.h \
	%D%/registers.c \
	%D%/registers.h \
	%D%/stop.c \
	%D%/stop.h
TARGET_LIBS = %D%/libtarget.a $(MODEL_LIBS)
