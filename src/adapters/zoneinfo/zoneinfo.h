#ifndef AX_ADAPTERS_ZONEINFO_ZONEINFO_H
#define AX_ADAPTERS_ZONEINFO_ZONEINFO_H

/* The zones port over a folder of TZif files, as the tzdata package installs it. */

#include <stdbool.h>
#include <stddef.h>
#include "port/zones.h"

/* `dir` NULL means /usr/share/zoneinfo. Files are read when first asked for and kept. Never fails: a folder that is
 * not there has no zones but "UTC", which needs no file. Free with ax_zoneinfo_close; every zone found dies with it. */
struct ax_zones *ax_zoneinfo_open(const char *dir);
void ax_zoneinfo_close(struct ax_zones *zones);

/* Whether there are time zone files in it: the one of UTC, which every compilation of them makes. */
bool ax_zoneinfo_is_folder(const char *dir);

/* Looks whether the file of any zone in use was replaced (inode, size or time), reads those again and returns how many
 * now hold other data. *ret_names: their names, NULL-terminated, one allocation that the caller frees. A file that
 * vanished or does not parse changes nothing: the last good data stay in force. */
size_t ax_zoneinfo_recheck(struct ax_zones *zones, char ***ret_names);

#endif
