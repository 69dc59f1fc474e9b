/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaky [REQUESTS [MICROSECONDS]]: a server that forgets to free something.
 *
 * Each request opens a session with a buffer. One request in four fails, and its error path
 * does not close the session; built with -DFIXED, it does. The server serves all requests,
 * with a pause after each, prints a line, and waits for a signal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE 2000

struct session {
	unsigned long id;
	char *buffer;
	char user[48];
};

static unsigned long failures;

static struct session *open_session(unsigned long id)
{
	struct session *s = malloc(sizeof(*s));

	if (!s || !(s->buffer = malloc(BUFFER_SIZE)))
		exit(1);
	s->id = id;
	snprintf(s->user, sizeof(s->user), "user-%lu@example.com", id);
	memset(s->buffer, 'x', BUFFER_SIZE);
	return s;
}

static void close_session(struct session *s)
{
	free(s->buffer);
	free(s);
}

static void serve(unsigned long id)
{
	struct session *s = open_session(id);

	if (id % 4 == 3) {
		failures++;
#ifdef FIXED
		close_session(s);
#endif
		return;
	}
	close_session(s);
}

int main(int argc, char **argv)
{
	unsigned long requests = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	useconds_t pause_us = argc > 2 ? (useconds_t)strtoul(argv[2], NULL, 10) : 0;

	for (unsigned long id = 0; id < requests; id++) {
		serve(id);
		if (pause_us > 0)
			usleep(pause_us);
	}
	printf("%s: %lu requests served, %lu failed\n", argv[0], requests, failures);
	fflush(stdout);
	for (;;)
		pause();
}
