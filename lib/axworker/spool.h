#ifndef AXW_SPOOL_H
#define AXW_SPOOL_H

/* Results between the end of an attempt and the server's word that it has them: a SQLite file in the state folder,
 * written by one thread over one connection, many results per transaction. Every row carries a check sum; what is
 * damaged is told and dropped, never reported. When the disk cannot be trusted (an I/O error on write or sync) the
 * process ends: a result that is not on disk must not be reported as if it were. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct axw_spool;

struct axw_spool_ops {
	/* At axw_spool_open, for every row left by an earlier process. */
	void (*found)(void *user, int64_t gid, int64_t fence, const char *text);
	/* From the spool's thread, after the commit. */
	void (*stored)(void *user, void *cookie);
	/* Something that people must know: `event` and a sentence. From any thread. */
	void (*trouble)(void *user, const char *event, const char *sentence);
	void *user;
};

/* NULL with a sentence in `error` when the file cannot be opened or made. */
struct axw_spool *axw_spool_open(const char *dir, const struct axw_spool_ops *ops, char *error, size_t error_size);
int axw_spool_start(struct axw_spool *spool); /* 0, or -1 without a thread */

void axw_spool_put(struct axw_spool *spool, int64_t gid, int64_t fence, char *text, void *cookie); /* takes the text */
void axw_spool_delete(struct axw_spool *spool, int64_t gid, int64_t fence);

/* Writes what is queued, ends the thread, closes. */
void axw_spool_close(struct axw_spool *spool);

#endif
