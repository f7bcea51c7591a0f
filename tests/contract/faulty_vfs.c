#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "faulty_vfs.h"

struct faulty_vfs faulty_vfs;

struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct faulty_file *)(void *)file)->real;
}

/* True when this call is to fail. */
static bool strikes(int *count)
{
	if (*count == 0 || --*count > 0)
		return false;
	if (faulty_vfs.for_good)
		*count = 1;
	faulty_vfs.failures++;
	return true;
}

static int close_file(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}
static int read_file(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
	return real_of(file)->pMethods->xRead(real_of(file), to, n, at);
}
static int write_file(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
	if (strikes(&faulty_vfs.write_in))
		return faulty_vfs.code;
	return real_of(file)->pMethods->xWrite(real_of(file), from, n, at);
}
static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}
static int flush_file(sqlite3_file *file, int flags)
{
	if (strikes(&faulty_vfs.flush_in))
		return faulty_vfs.code;
	return real_of(file)->pMethods->xSync(real_of(file), flags);
}
static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
static int lock_file(sqlite3_file *file, int lock)
{
	return real_of(file)->pMethods->xLock(real_of(file), lock);
}
static int unlock_file(sqlite3_file *file, int lock)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), lock);
}
static int check_lock(sqlite3_file *file, int *held)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), held);
}
static int control_file(sqlite3_file *file, int op, void *arg)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}
static int sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}
static int device(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}
static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, at);
}
static int shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}
static void shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}
static int shm_unmap(sqlite3_file *file, int drop)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), drop);
}

static const sqlite3_io_methods methods = { 2, close_file, read_file, write_file, truncate_file, flush_file, file_size,
	lock_file, unlock_file, check_lock, control_file, sector_size, device, shm_map, shm_lock, shm_barrier,
	shm_unmap, NULL, NULL };

static sqlite3_vfs *real_vfs;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	(void)vfs;
	struct faulty_file *faulty = (struct faulty_file *)(void *)file;
	faulty->real = (sqlite3_file *)(void *)(faulty + 1);
	int code = real_vfs->xOpen(real_vfs, name, faulty->real, flags, out_flags);
	faulty->base.pMethods = code == SQLITE_OK ? &methods : NULL;
	return code;
}

void faulty_vfs_install(void)
{
	static sqlite3_vfs vfs;
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "faulty";
	vfs.szOsFile = (int)sizeof(struct faulty_file) + real_vfs->szOsFile;
	vfs.xOpen = open_file;
	sqlite3_vfs_register(&vfs, 1);
}

void faulty_vfs_calm(void)
{
	memset(&faulty_vfs, 0, sizeof(faulty_vfs));
}
