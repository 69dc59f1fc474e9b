/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web - the parent's interface to the serving process. The parent reads the figures and
 * has no sockets; the child has the sockets and no privileges. The parent passes each new
 * set of figures and each version of the web configuration as a sealed memfd. If one of
 * the processes ends, the other one ends, too.
 */
#ifndef MS_CMD_EXPORTER_WEB_H
#define MS_CMD_EXPORTER_WEB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/exporter/listen.h"
#include "render/exporter/exposition.h"
#include "store/exporter/web_file.h"

/*
 * The header of a memfd with figures. The text in each format follows the header, in the
 * order of enum exposition_format.
 */
struct web_look {
	uint64_t lengths[EXPOSITION_FORMAT_COUNT_];
};

/* The kinds of messages between the processes: the first byte of each message. */
enum web_message {
	WEB_MESSAGE_LOOK = 'L',	  /* to the child, with a memfd of figures */
	WEB_MESSAGE_CONFIG = 'C', /* to the child, with a memfd of web settings */
	WEB_MESSAGE_READY = 'R',  /* to the parent: the child is serving requests */
	/* to the parent, with an error message: the child is ending */
	WEB_MESSAGE_FAILED = 'F',
	/* to the parent, with an error message: the child rejected the settings */
	WEB_MESSAGE_REFUSED = 'X',
	WEB_MESSAGE_ACCEPTED = 'A', /* to the parent: the settings are in effect */
	WEB_MESSAGE_SCRAPE = 'S',   /* to the parent: the metrics have been requested */
};

struct web {
	pid_t pid;
	int fd; /* socket to the child; readable if it has sent a message or has ended */
};

struct web_setup {
	struct listeners *listeners;
	const struct web_file *config;
	const char *telemetry_path;
	bool has_owners, has_heaps; /* which optional figures the exporter reads */
};

/*
 * Start the child, and close the sockets in the parent. Return EXIT_DONE, or print a
 * message and return another exit status.
 */
int web_start(struct web *web, const struct web_setup *setup);

/*
 * Pass the collected figures to the child. Return 0, or -errno: -EPIPE if the
 * child has ended.
 */
int web_send_look(struct web *web, const struct strbuf texts[EXPOSITION_FORMAT_COUNT_]);

/* Pass web settings to the child. Return 0 or -errno. */
int web_send_config(struct web *web, const struct web_file *config);

/* The messages that web_receive() has received. */
struct web_news {
	bool is_scraped;      /* the metrics have been requested */
	size_t refused_count; /* number of settings that the child has refused */
	/* true if the child's last reply to new settings was a refusal */
	bool is_last_refused;
};

/*
 * Receive the messages that have arrived, and add them to *news. Print a message for
 * settings that the child has refused. Return 0, or -EPIPE if the child has ended.
 */
int web_receive(struct web *web, struct web_news *news);

/* End the child and wait for it. */
void web_stop(struct web *web);

#endif
