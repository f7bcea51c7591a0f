#include "adapters/zoneinfo/zoneinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/attr.h"
#include "base/num.h"
#include "base/table.h"

enum { max_file_bytes = 1 << 20 };

/* What tells one edition of a file from another. */
struct stamp {
	dev_t dev;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

/* Data that were replaced; kept because someone may still hold them. */
struct old {
	struct ax_tz *tz;
	struct old *next;
};

struct zone {
	char name[AX_TZ_NAME_SIZE];
	struct ax_tz *tz;
	unsigned char *bytes;
	size_t len;
	struct stamp stamp;
	UT_hash_handle hh;
};

struct version {
	char text[32];
	struct version *next;
};

struct zoneinfo {
	struct ax_zones port;
	char *dir;
	pthread_mutex_t lock; /* guards all below */
	struct zone *zones;
	struct old *olds;
	struct version *version; /* the newest first; older ones may still be held */
};

static struct zoneinfo *self_of(struct ax_zones *zones)
{
	return zones->self;
}

/* The whole of dir/name, or NULL. Caller frees. */
static unsigned char *read_file(const char *dir, const char *name, size_t *ret_len, struct stamp *ret_stamp)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hold us up */
	if (fd < 0)
		return NULL;
	struct stat st;
	unsigned char *bytes = NULL;
	size_t len = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= max_file_bytes) {
		bytes = ax_malloc((size_t)st.st_size + 1);
		ssize_t got = 1;
		while (got > 0 && len < (size_t)st.st_size) {
			got = read(fd, bytes + len, (size_t)st.st_size - len);
			if (got > 0)
				len += (size_t)got;
			else if (got < 0 && errno == EINTR)
				got = 1;
		}
	}
	close(fd);
	if (bytes != NULL && len != (size_t)st.st_size) {
		free(bytes);
		return NULL;
	}
	*ret_len = len;
	if (bytes != NULL)
		*ret_stamp = (struct stamp){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
	return bytes;
}

static bool file_changed(const char *dir, const struct zone *zone)
{
	char path[4096];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s", dir, zone->name);
	if (n < 0 || (size_t)n >= sizeof(path) || stat(path, &st) != 0)
		return false;
	const struct stamp *s = &zone->stamp;
	return st.st_dev != s->dev || st.st_ino != s->inode || st.st_size != s->size ||
		st.st_mtim.tv_sec != s->changed.tv_sec || st.st_mtim.tv_nsec != s->changed.tv_nsec;
}

/* Files in the folder that are no names of the tz database, or a second set of the same zones. */
static bool is_zone_name(const char *name)
{
	static const char *const others[] = { "posix/", "right/", "localtime", "posixrules", "Factory" };
	if (!ax_tz_name_valid(name))
		return false;
	for (size_t i = 0; i < AX_COUNT(others); i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	return true;
}

static struct zone *load(const struct zoneinfo *self, const char *name)
{
	struct stamp stamp = { 0 };
	size_t len;
	unsigned char *bytes = read_file(self->dir, name, &len, &stamp);
	struct ax_tz *tz;
	if (bytes == NULL)
		return NULL;
	if (ax_tz_parse(name, bytes, len, &tz, NULL) != AX_OK) {
		free(bytes);
		return NULL;
	}
	struct zone *zone = ax_malloc(sizeof(*zone));
	snprintf(zone->name, sizeof(zone->name), "%s", name);
	zone->tz = tz;
	zone->bytes = bytes;
	zone->len = len;
	zone->stamp = stamp;
	return zone;
}

static const struct ax_tz *find(struct ax_zones *zones, const char *name)
{
	struct zoneinfo *self = self_of(zones);
	struct zone *zone;
	if (strcmp(name, "UTC") == 0)
		return ax_tz_utc();
	if (!is_zone_name(name))
		return NULL;
	pthread_mutex_lock(&self->lock);
	HASH_FIND_STR(self->zones, name, zone);
	if (zone == NULL) {
		zone = load(self, name);
		if (zone != NULL)
			HASH_ADD_STR(self->zones, name, zone);
	}
	const struct ax_tz *tz = zone != NULL ? zone->tz : NULL;
	pthread_mutex_unlock(&self->lock);
	return tz;
}

/* The first word of `bytes` after `skip` bytes, when it looks like a version ("2026f"). */
static bool take_version(const unsigned char *bytes, size_t len, size_t skip, char out[32])
{
	size_t n = 0;
	for (size_t i = skip; i < len && bytes[i] > ' ' && bytes[i] < 0x7f && n < 31; i++)
		out[n++] = (char)bytes[i];
	out[n] = '\0';
	return n > 0;
}

static void read_version(const char *dir, char out[32])
{
	static const struct {
		const char *file, *before;
	} sources[] = { { "+VERSION", "" }, { "tzdata.zi", "# version " } };
	struct stamp stamp;
	for (size_t i = 0; i < AX_COUNT(sources); i++) {
		size_t len, skip = strlen(sources[i].before);
		unsigned char *bytes = read_file(dir, sources[i].file, &len, &stamp);
		bool ok = bytes != NULL && len > skip && memcmp(bytes, sources[i].before, skip) == 0 &&
			take_version(bytes, len, skip, out);
		free(bytes);
		if (ok)
			return;
	}
	snprintf(out, 32, "unknown");
}

/* Under the lock. */
static void update_version(struct zoneinfo *self)
{
	struct version *version = ax_malloc(sizeof(*version));
	read_version(self->dir, version->text);
	if (self->version != NULL && strcmp(self->version->text, version->text) == 0) {
		free(version);
		return;
	}
	version->next = self->version;
	self->version = version;
}

static const char *version(struct ax_zones *zones)
{
	struct zoneinfo *self = self_of(zones);
	pthread_mutex_lock(&self->lock);
	if (self->version == NULL)
		update_version(self);
	const char *text = self->version->text;
	pthread_mutex_unlock(&self->lock);
	return text;
}

static const struct ax_zones_ops ops = { find, version };

bool ax_zoneinfo_is_folder(const char *dir)
{
	static const char *const names[] = { "UTC", "Etc/UTC" };
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		char path[4096];
		int n = snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (n > 0 && (size_t)n < sizeof(path) && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

struct ax_zones *ax_zoneinfo_open(const char *dir)
{
	struct zoneinfo *self = ax_malloc(sizeof(*self));
	self->port = (struct ax_zones){ &ops, self };
	self->dir = ax_strdup_heap(dir != NULL ? dir : "/usr/share/zoneinfo");
	pthread_mutex_init(&self->lock, NULL);
	return &self->port;
}

static void zone_free(struct zone *zone)
{
	ax_tz_free(zone->tz);
	free(zone->bytes);
	free(zone);
}

void ax_zoneinfo_close(struct ax_zones *zones)
{
	struct zoneinfo *self = self_of(zones);
	struct zone *zone, *next;
	HASH_ITER(hh, self->zones, zone, next)
	{
		HASH_DEL(self->zones, zone);
		zone_free(zone);
	}
	while (self->olds != NULL) {
		struct old *old = self->olds;
		self->olds = old->next;
		ax_tz_free(old->tz);
		free(old);
	}
	while (self->version != NULL) {
		struct version *old = self->version;
		self->version = old->next;
		free(old);
	}
	pthread_mutex_destroy(&self->lock);
	free(self->dir);
	free(self);
}

/* Takes the file's new edition in; true when the data differ. */
static bool refresh(struct zoneinfo *self, struct zone *zone)
{
	struct zone *fresh = load(self, zone->name);
	if (fresh == NULL)
		return false;
	zone->stamp = fresh->stamp;
	if (fresh->len == zone->len && memcmp(fresh->bytes, zone->bytes, zone->len) == 0) {
		zone_free(fresh);
		return false;
	}
	struct old *old = ax_malloc(sizeof(*old));
	*old = (struct old){ zone->tz, self->olds };
	self->olds = old;
	free(zone->bytes);
	zone->tz = fresh->tz;
	zone->bytes = fresh->bytes;
	zone->len = fresh->len;
	free(fresh);
	return true;
}

size_t ax_zoneinfo_recheck(struct ax_zones *zones, char ***ret_names)
{
	struct zoneinfo *self = self_of(zones);
	struct zone *zone, *next;
	pthread_mutex_lock(&self->lock);
	/* Pointers first, then the names they point to, in one block. */
	size_t cap = HASH_COUNT(self->zones), n = 0;
	char **names = ax_malloc((cap + 1) * (sizeof(*names) + AX_TZ_NAME_SIZE));
	char *text = (char *)(names + cap + 1);
	HASH_ITER(hh, self->zones, zone, next)
	{
		if (!file_changed(self->dir, zone) || !refresh(self, zone))
			continue;
		names[n] = text + n * AX_TZ_NAME_SIZE;
		memcpy(names[n++], zone->name, sizeof(zone->name));
	}
	update_version(self);
	pthread_mutex_unlock(&self->lock);
	*ret_names = names;
	return n;
}
