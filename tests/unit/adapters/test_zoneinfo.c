/* Zone files: what is found, what is not, and what happens when a file is replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/attr.h"

static char folder[64];

static void path_of(char out[256], const char *name)
{
	snprintf(out, 256, "%s/%s", folder, name);
}

/* Replaces the file as a package manager does: a new one renamed over it. */
static void put(const char *name, const void *bytes, size_t len)
{
	char path[256], fresh[256];
	path_of(path, name);
	path_of(fresh, "fresh");
	FILE *file = fopen(fresh, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
	assert_int_equal(rename(fresh, path), 0);
}

static void put_system_zone(const char *name, const char *from)
{
	char path[256], bytes[16384];
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", from);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t len = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	put(name, bytes, len);
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/ax-zoneinfo-XXXXXX");
	char path[256];
	if (mkdtemp(folder) == NULL)
		return -1;
	path_of(path, "Europe");
	return mkdir(path, 0700);
}

static int remove_folder(void **state)
{
	(void)state;
	static const char *const names[] = { "Europe/Here", "Europe/There", "Europe/Bad", "tzdata.zi", "+VERSION",
		"localtime", "zone.tab" };
	char path[256];
	for (size_t i = 0; i < AX_COUNT(names); i++) {
		path_of(path, names[i]);
		unlink(path);
	}
	path_of(path, "Europe/Pipe");
	unlink(path);
	path_of(path, "Europe");
	rmdir(path);
	return rmdir(folder);
}

static void test_the_system_has_zones(void **state)
{
	(void)state;
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	/* B091: names that the tz database has, and names that look like it. */
	static const char *const good[] = { "UTC", "Asia/Shanghai", "Etc/GMT-8", "Asia/Calcutta", "Europe/Berlin" };
	static const char *const bad[] = { "PST", "GMT+8", "CST8", "Asia/Beijing", "../etc/passwd", "", "localtime",
		"posix/UTC", "right/UTC", "zone.tab", "Europe", "/usr/share/zoneinfo/UTC" };
	for (size_t i = 0; i < AX_COUNT(good); i++)
		if (ax_zones_find(zones, good[i]) == NULL)
			fail_msg("not found: %s", good[i]);
	for (size_t i = 0; i < AX_COUNT(bad); i++)
		if (ax_zones_find(zones, bad[i]) != NULL)
			fail_msg("found: %s", bad[i]);
	assert_ptr_equal(ax_zones_find(zones, "Europe/Berlin"), ax_zones_find(zones, "Europe/Berlin"));
	assert_int_equal(strspn(ax_zones_version(zones), "0123456789"), 4);
	ax_zoneinfo_close(zones);
}

static void test_an_empty_folder(void **state)
{
	(void)state;
	struct ax_zones *zones = ax_zoneinfo_open("/nonexistent");
	assert_ptr_equal(ax_zones_find(zones, "UTC"), ax_tz_utc());
	assert_null(ax_zones_find(zones, "Europe/Berlin"));
	assert_string_equal(ax_zones_version(zones), "unknown");
	ax_zoneinfo_close(zones);
}

static void test_versions(void **state)
{
	(void)state;
	struct ax_zones *zones = ax_zoneinfo_open(folder);
	char **names;
	assert_string_equal(ax_zones_version(zones), "unknown");
	put("tzdata.zi", "# version 2026f\nR A", 19);
	ax_zoneinfo_recheck(zones, &names);
	free(names);
	const char *held = ax_zones_version(zones);
	assert_string_equal(held, "2026f");
	put("+VERSION", "2027a\n", 6);
	ax_zoneinfo_recheck(zones, &names);
	free(names);
	assert_string_equal(ax_zones_version(zones), "2027a");
	assert_string_equal(held, "2026f");
	ax_zoneinfo_close(zones);
}

static size_t recheck(struct ax_zones *zones, char *first, size_t size)
{
	char **names;
	size_t n = ax_zoneinfo_recheck(zones, &names);
	assert_null(names[n]);
	snprintf(first, size, "%s", n > 0 ? names[0] : "");
	free(names);
	return n;
}

static void test_replaced_files(void **state)
{
	(void)state;
	char first[80], path[256];
	put_system_zone("Europe/Here", "Europe/Berlin");
	put_system_zone("Europe/There", "Asia/Tokyo");
	struct ax_zones *zones = ax_zoneinfo_open(folder);
	const struct ax_tz *here = ax_zones_find(zones, "Europe/Here");
	assert_non_null(here);
	assert_non_null(ax_zones_find(zones, "Europe/There"));
	assert_int_equal(recheck(zones, first, sizeof(first)), 0);

	/* The same data in a new file is no change. */
	put_system_zone("Europe/Here", "Europe/Berlin");
	assert_int_equal(recheck(zones, first, sizeof(first)), 0);
	assert_ptr_equal(ax_zones_find(zones, "Europe/Here"), here);

	/* Other data: one name, a new zone, and the old one still answers for those who hold it. */
	put_system_zone("Europe/Here", "Europe/London");
	assert_int_equal(recheck(zones, first, sizeof(first)), 1);
	assert_string_equal(first, "Europe/Here");
	assert_int_equal(ax_tz_offset_s(ax_zones_find(zones, "Europe/Here"), 0), 3600);
	assert_int_equal(ax_tz_offset_s(here, 1767225600000), 3600);
	assert_int_equal(ax_tz_offset_s(ax_zones_find(zones, "Europe/Here"), 1767225600000), 0);
	assert_int_equal(recheck(zones, first, sizeof(first)), 0);

	/* Damaged or gone: the last good data hold, and a repair is noticed. */
	put("Europe/Here", "TZif2", 5);
	assert_int_equal(recheck(zones, first, sizeof(first)), 0);
	assert_int_equal(ax_tz_offset_s(ax_zones_find(zones, "Europe/Here"), 1767225600000), 0);
	path_of(path, "Europe/Here");
	unlink(path);
	assert_int_equal(recheck(zones, first, sizeof(first)), 0);
	put_system_zone("Europe/Here", "Asia/Tokyo");
	assert_int_equal(recheck(zones, first, sizeof(first)), 1);
	assert_int_equal(ax_tz_offset_s(ax_zones_find(zones, "Europe/Here"), 1767225600000), 32400);
	ax_zoneinfo_close(zones);
}

static void test_files_that_are_no_zones(void **state)
{
	(void)state;
	char path[256];
	put("Europe/Bad", "hello", 5);
	put_system_zone("localtime", "UTC");
	put("zone.tab", "", 0);
	path_of(path, "Europe/Pipe");
	assert_int_equal(mkfifo(path, 0600), 0);
	struct ax_zones *zones = ax_zoneinfo_open(folder);
	assert_null(ax_zones_find(zones, "Europe/Bad"));
	assert_null(ax_zones_find(zones, "Europe/Pipe"));
	assert_null(ax_zones_find(zones, "Europe"));
	assert_null(ax_zones_find(zones, "localtime"));
	assert_null(ax_zones_find(zones, "zone.tab"));
	ax_zoneinfo_close(zones);
}

static void *find_many(void *arg)
{
	static const char *const names[] = { "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Africa/Cairo",
		"Europe/London", "No/Such" };
	struct ax_zones *zones = arg;
	for (int i = 0; i < 3000; i++) {
		const struct ax_tz *tz = ax_zones_find(zones, names[i % (int)AX_COUNT(names)]);
		if ((tz == NULL) != (i % (int)AX_COUNT(names) == 5))
			return zones;
		if (tz != NULL)
			ax_tz_offset_s(tz, i * 1000000000LL);
	}
	return NULL;
}

static void test_many_threads(void **state)
{
	(void)state;
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	pthread_t threads[4];
	for (size_t i = 0; i < AX_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_many, zones), 0);
	for (size_t i = 0; i < AX_COUNT(threads); i++) {
		void *fault;
		pthread_join(threads[i], &fault);
		assert_null(fault);
	}
	ax_zoneinfo_close(zones);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_system_has_zones),
		cmocka_unit_test(test_an_empty_folder),
		cmocka_unit_test_setup_teardown(test_versions, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_replaced_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_files_that_are_no_zones, make_folder, remove_folder),
		cmocka_unit_test(test_many_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
