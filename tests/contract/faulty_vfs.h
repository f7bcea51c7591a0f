#ifndef AX_TESTS_CONTRACT_FAULTY_VFS_H
#define AX_TESTS_CONTRACT_FAULTY_VFS_H

/* A disk under SQLite that fails as told: the default VFS, with the n-th write or flush answered by an error. */

#include <stdbool.h>

struct faulty_vfs {
	int write_in, flush_in; /* fail the n-th from now on; 0 = none */
	int code;               /* with this SQLite result */
	bool for_good;          /* and all after it */
	int failures;           /* so far */
};
extern struct faulty_vfs faulty_vfs;

void faulty_vfs_install(void);
void faulty_vfs_calm(void); /* no faults from now on */

#endif
