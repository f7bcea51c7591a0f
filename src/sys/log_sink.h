#ifndef AX_SYS_LOG_SINK_H
#define AX_SYS_LOG_SINK_H

/* Log lines: one JSON object per line on standard error, written whole with one write. Safe from any thread.
 *
 * At most 200 lines a second go out; what is dropped is counted and told in the next second, so that a fault that
 * repeats quickly neither fills a disk nor stops the program. */

/* Levels as in port/log.h: 0 debug, 1 info, 2 warn, 3 error. Events below `level` are not written. */
void ax_log_sink_level(int level);
/* `fields` is the inside of a JSON object or "". `program` names the writer and must be constant. */
void ax_log_sink_event(const char *program, int level, const char *event, const char *fields);

#endif
