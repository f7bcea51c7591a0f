#ifndef AX_CLI_CMD_CRON_H
#define AX_CLI_CMD_CRON_H

/* `axctl cron`: when a schedule fires, without a server.
 *
 *   cron next [--dialect D] [--tz Z] [--from RFC3339] [-n N] EXPR     one RFC 3339 UTC instant a line
 *   cron next --batch                                                 JSON lines in, JSON lines out
 *   cron explain [--dialect D] [--tz Z] [--from RFC3339] [-n N] EXPR  words, warnings, next fires with notes
 *
 * argv[0] is "cron". Returns the exit code: 0; 1 when output fails; 2 when the arguments or the expression are bad. */
int ax_cmd_cron(int argc, char **argv);

#endif
