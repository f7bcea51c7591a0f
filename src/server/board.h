#ifndef AX_SERVER_BOARD_H
#define AX_SERVER_BOARD_H

/* The notice board of the servers over one store: what changed at one of them, for the streams, parked polls and limits
 * of the others.
 *
 * What a server has to tell gathers here (loop thread) until its pulse takes it and puts it into the store as one
 * notice; the pulses of the others read it and deliver it to their loop threads, where it is told like a hint of their
 * own. Hints they are: one that is lost is made good by `reload`, by the next look, or by the next read of a row. */

#include "server/hints.h"

/* A sign-in with a password, for the limits on trying. */
struct ax_sign_in {
	const char *account, *address;
	bool passed;
};

/* One notice. */
struct ax_news {
	struct ax_hints hints; /* with the errand and the arena; due_soon and tick_soon are not passed on: every server
				  looks by itself */
	int64_t *revoked;      /* tokens */
	size_t n_revoked, cap_revoked;
	struct ax_sign_in *sign_ins;
	size_t n_sign_ins, cap_sign_ins;
	bool reload; /* there was more than is told here */
};

struct ax_board {
	uv_mutex_t lock;
	struct ax_news *news; /* not taken yet; NULL = none */
	_Atomic bool heard;   /* there are others; else nothing gathers */
};

void ax_board_init(struct ax_board *board);
void ax_board_done(struct ax_board *board);

/* Loop thread. */
void ax_board_hints(struct ax_board *board, const struct ax_hints *hints);
void ax_board_sign_in(struct ax_board *board, const char *account, const char *address, bool passed);

/* The pulse: what gathered, or NULL; free it with ax_news_free. */
struct ax_news *ax_board_take(struct ax_board *board);

struct ax_news *ax_news_new(void);
void ax_news_free(struct ax_news *news);
/* As JSON, and from it. A text that is none, or of another version, is news without content. */
void ax_news_write(const struct ax_news *news, struct ax_buf *out);
struct ax_news *ax_news_read(const char *text);

#endif
