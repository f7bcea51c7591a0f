#include "server/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "sealed:1:"

enum { HEX_SIZE = AX_SEAL_KEY_BYTES * 2 + 1 };

_Static_assert(AX_SEAL_KEY_BYTES == crypto_secretbox_KEYBYTES, "the key is one of secretbox");

static enum ax_status refuse(const char *path, const char *what, struct ax_err *err)
{
	return ax_fail(err, AX_UNAVAILABLE, "--secret-key-file", "%s: %s", path, what);
}

static void use_key(struct ax_seal *seal)
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	crypto_generichash(hash, sizeof hash, seal->key, sizeof seal->key, NULL, 0);
	sodium_bin2hex(seal->id, sizeof seal->id, hash, (AX_SEAL_ID_SIZE - 1) / 2);
	seal->on = true;
}

/* A file of root's that the server's group may read is one that somebody gave it, as systemd does its credentials. */
static bool is_open(const struct stat *file)
{
	mode_t others = S_IRWXG | S_IRWXO;
	if (file->st_uid == 0)
		others &= ~(mode_t)S_IRGRP;
	return (file->st_mode & others) != 0;
}

/* 64 hexadecimal digits, and nobody else may read them. */
static enum ax_status read_key(struct ax_seal *seal, int fd, const char *path, struct ax_err *err)
{
	char text[HEX_SIZE + 1] = "";
	struct stat file;
	size_t len;
	if (fstat(fd, &file) != 0 || is_open(&file))
		return refuse(path, "must be readable by its owner alone (chmod 600)", err);
	ssize_t n = read(fd, text, sizeof text - 1);
	bool whole = n >= HEX_SIZE - 1 && (text[HEX_SIZE - 1] == '\0' || text[HEX_SIZE - 1] == '\n');
	bool good = whole && sodium_hex2bin(seal->key, sizeof seal->key, text, HEX_SIZE - 1, NULL, &len, NULL) == 0 &&
		len == sizeof seal->key;
	sodium_memzero(text, sizeof text);
	if (!good)
		return refuse(path, "must hold 64 hexadecimal digits (openssl rand -hex 32)", err);
	use_key(seal);
	return AX_OK;
}

/* Written beside and linked to its name, so that a crash leaves no half of a key. */
static enum ax_status make_key(struct ax_seal *seal, const char *path, struct ax_err *err)
{
	char text[HEX_SIZE], fresh[4096];
	if (snprintf(fresh, sizeof fresh, "%s.new", path) >= (int)sizeof fresh)
		return refuse(path, "is too long a name", err);
	randombytes_buf(seal->key, sizeof seal->key);
	sodium_bin2hex(text, sizeof text, seal->key, sizeof seal->key);
	text[HEX_SIZE - 1] = '\n';
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool good = fd >= 0 && write(fd, text, sizeof text) == (ssize_t)sizeof text && fsync(fd) == 0;
	sodium_memzero(text, sizeof text);
	if (fd >= 0)
		close(fd);
	if (!good || rename(fresh, path) != 0)
		return refuse(path, strerror(errno), err);
	use_key(seal);
	return AX_OK;
}

enum ax_status ax_seal_load(struct ax_seal *seal, const struct ax_config *config, struct ax_err *err)
{
	char path[4000];
	bool given = config->secret_key_file[0] != '\0';
	*seal = (struct ax_seal){ 0 };
	AX_ASSERT(sodium_init() >= 0);
	if (!given && config->store_url[0] != '\0')
		return AX_OK;
	snprintf(path, sizeof path, "%s%s", given ? config->secret_key_file : config->state_dir,
		given ? "" : "/secret.key");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !given)
		return make_key(seal, path, err);
	if (fd < 0)
		return refuse(path, strerror(errno), err);
	enum ax_status status = read_key(seal, fd, path, err);
	close(fd);
	return status;
}

/* MARK id ":" base64 of nonce and box */
const char *ax_seal_text(const struct ax_seal *seal, const char *text, struct ax_arena *arena)
{
	if (!seal->on)
		return text;
	size_t len = strlen(text), size = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + len;
	unsigned char *box = ax_alloc(arena, size);
	randombytes_buf(box, crypto_secretbox_NONCEBYTES);
	crypto_secretbox_easy(box + crypto_secretbox_NONCEBYTES, (const unsigned char *)text, len, box, seal->key);
	size_t room = sodium_base64_ENCODED_LEN(size, sodium_base64_VARIANT_ORIGINAL);
	char *encoded = ax_alloc(arena, room);
	sodium_bin2base64(encoded, room, box, size, sodium_base64_VARIANT_ORIGINAL);
	return ax_sprintf(arena, MARK "%s:%s", seal->id, encoded);
}

static bool open_box(const struct ax_seal *seal, const char *encoded, struct ax_arena *arena, const char **ret)
{
	size_t most = strlen(encoded), size;
	unsigned char *box = ax_alloc(arena, most + 1);
	if (sodium_base642bin(box, most, encoded, most, NULL, &size, NULL, sodium_base64_VARIANT_ORIGINAL) != 0 ||
		size < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)
		return false;
	size_t len = size - crypto_secretbox_NONCEBYTES - crypto_secretbox_MACBYTES;
	char *text = ax_alloc(arena, len + 1);
	text[len] = '\0';
	*ret = text;
	return crypto_secretbox_open_easy((unsigned char *)text, box + crypto_secretbox_NONCEBYTES,
		       size - crypto_secretbox_NONCEBYTES, box, seal->key) == 0;
}

enum ax_status ax_seal_read(
	const struct ax_seal *seal, const char *stored, struct ax_arena *arena, const char **ret, struct ax_err *err)
{
	size_t mark = strlen(MARK), id = strlen(seal->id);
	*ret = stored;
	if (strncmp(stored, MARK, mark) != 0)
		return AX_OK;
	if (!seal->on || strncmp(stored + mark, seal->id, id) != 0 || stored[mark + id] != ':')
		return ax_fail(err, AX_BROKEN, "settings", "they are sealed with another key than this server has");
	if (!open_box(seal, stored + mark + id + 1, arena, ret))
		return ax_fail(err, AX_BROKEN, "settings", "they were changed in the database and cannot be opened");
	return AX_OK;
}
