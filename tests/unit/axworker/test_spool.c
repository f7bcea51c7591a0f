#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/num.h"
#include "spool.h"

enum { ROWS = 40 };

struct seen {
	int found;
	int invented;
	int troubles;
	atomic_int stored;
};

static void text_of(int64_t gid, char out[200])
{
	snprintf(out, 200, "{\"type\":\"result\",\"gid\":\"%lld\",\"outcome\":\"success\",\"message\":\"%0*lld\"}",
		(long long)gid, (int)(gid % 90), (long long)gid);
}

static void found(void *user, int64_t gid, int64_t fence, const char *text)
{
	struct seen *seen = user;
	char want[200];
	text_of(gid, want);
	seen->found++;
	if (gid < 1 || gid > ROWS || fence != gid + 7 || strcmp(text, want) != 0)
		seen->invented++;
}

static void stored(void *user, void *cookie)
{
	(void)cookie;
	struct seen *seen = user;
	atomic_fetch_add(&seen->stored, 1);
}

static void trouble(void *user, const char *event, const char *sentence)
{
	(void)event;
	(void)sentence;
	struct seen *seen = user;
	seen->troubles++;
}

static struct axw_spool *open_spool(const char *dir, struct seen *seen)
{
	char error[300];
	*seen = (struct seen){ 0 };
	struct axw_spool_ops ops = { .found = found, .stored = stored, .trouble = trouble, .user = seen };
	return axw_spool_open(dir, &ops, error, sizeof(error));
}

static void empty_dir(const char *dir)
{
	DIR *d = opendir(dir);
	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

static char dir[] = "/tmp/ax-spool-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	empty_dir(dir);
	return rmdir(dir);
}

static void fill(void)
{
	struct seen seen;
	struct axw_spool *spool = open_spool(dir, &seen);
	assert_non_null(spool);
	assert_int_equal(axw_spool_start(spool), 0);
	for (int64_t gid = 1; gid <= ROWS; gid++) {
		char text[200];
		text_of(gid, text);
		axw_spool_put(spool, gid, gid + 7, ax_strdup_heap(text), NULL);
	}
	axw_spool_close(spool);
	assert_int_equal(seen.stored, ROWS);
}

/* B109 */
static void test_results_survive_and_leave_when_delivered(void **state)
{
	(void)state;
	struct seen seen;
	fill();
	struct axw_spool *spool = open_spool(dir, &seen);
	assert_int_equal(seen.found, ROWS);
	assert_int_equal(seen.invented, 0);
	assert_int_equal(axw_spool_start(spool), 0);
	for (int64_t gid = 1; gid <= ROWS; gid += 2)
		axw_spool_delete(spool, gid, gid + 7);
	axw_spool_close(spool);
	spool = open_spool(dir, &seen);
	assert_int_equal(seen.found, ROWS / 2);
	axw_spool_close(spool);
}

static char *read_spool(const char *path, size_t *ret_len)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	char *bytes = ax_malloc((size_t)st.st_size);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_len = (size_t)st.st_size;
	return bytes;
}

static void check_damaged(const char *path, const char *bytes, size_t len)
{
	struct seen seen;
	empty_dir(dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
	struct axw_spool *spool = open_spool(dir, &seen);
	assert_non_null(spool); /* whatever was in the file, the worker starts */
	assert_int_equal(seen.invented, 0);
	assert_true(seen.found <= 2 * ROWS);
	axw_spool_close(spool);
}

/* B109 */
static void test_damage_invents_no_result(void **state)
{
	(void)state;
	char path[100];
	size_t len;
	fill();
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	char *bytes = read_spool(path, &len);
	assert_true(len >= 8192);
	for (size_t cut = 0; cut < len; cut += 1 + len / 40)
		check_damaged(path, bytes, cut);
	uint64_t random = 42;
	for (int i = 0; i < 250; i++) {
		random = ax_mix64(random + 1);
		size_t bit = (size_t)(random % (len * 8));
		bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
		check_damaged(path, bytes, len);
		bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
	}
	free(bytes);
}

static void test_text_changes_are_seen(void **state)
{
	(void)state;
	char path[100];
	size_t len;
	int changed = 0;
	fill();
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	char *bytes = read_spool(path, &len);
	for (size_t i = 0; i + 7 < len && changed < 10; i++) {
		if (memcmp(bytes + i, "success", 7) != 0)
			continue;
		memcpy(bytes + i, "succesz", 7); /* sound for SQLite, wrong for us */
		check_damaged(path, bytes, len);
		memcpy(bytes + i, "success", 7);
		changed++;
	}
	assert_int_equal(changed, 10);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_results_survive_and_leave_when_delivered, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_damage_invents_no_result, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_text_changes_are_seen, make_dir, remove_dir),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
