noinst_LIBRARIES += %D%/libsample.a
%C%_libsample_a_SOURCES = \
	%D%/sampler.c \
	%D%/sampler.h \
	%D%/watch.c \
	%D%/watch.h
SAMPLE_LIBS = %D%/libsample.a src/classify/libclassify.a $(PROC_LIBS)
