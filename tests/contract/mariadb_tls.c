/* TLS to the database: verified, or not at all. */

#include <stdio.h>

#include "adapters/mariadb/conn.h"
#include "fixture.h"

static struct ax_mariadb_config config;
static char ca[256], other_ca[256], cert[256], key[256], other_key[256];

/* What opening says, and whether the connection is encrypted. */
static enum ax_status try_open(struct ax_err *err, bool *ret_encrypted)
{
	struct ax_mariadb *db = NULL;
	struct ax_mariadb_conn *conn = NULL;
	enum ax_status status = ax_mariadb_open(&config, &db, err);
	if (status == AX_OK) {
		assert_int_equal(ax_mariadb_connect(db, &conn, err), AX_OK);
		*ret_encrypted = mysql_get_ssl_cipher(conn->mysql) != NULL;
	}
	ax_mariadb_disconnect(conn);
	ax_mariadb_close(db);
	return status;
}

static void test_a_certificate_of_the_ca_is_trusted(void **state)
{
	struct ax_err err = { 0 };
	bool encrypted = false;
	(void)state;
	config.host = "localhost";
	config.tls = AX_MARIADB_TLS_ON;
	config.ca_file = ca;
	assert_int_equal(try_open(&err, &encrypted), AX_OK);
	assert_true(encrypted);
}

static void test_any_other_is_not(void **state)
{
	struct ax_err err = { 0 };
	bool encrypted = false;
	(void)state;
	config.host = "localhost";
	config.tls = AX_MARIADB_TLS_ON;
	config.ca_file = other_ca;
	assert_int_equal(try_open(&err, &encrypted), AX_INVALID);
	assert_non_null(strstr(err.msg, "no trusted TLS"));
	config.ca_file = ""; /* whom the system trusts: not this one */
	assert_int_equal(try_open(&err, &encrypted), AX_INVALID);
	config.ca_file = ca;
	config.host = "127.0.0.1"; /* the certificate is for localhost */
	assert_int_equal(try_open(&err, &encrypted), AX_INVALID);
	assert_non_null(strstr(err.msg, "no trusted TLS"));
}

static void test_on_this_machine_there_is_none_unless_asked_for(void **state)
{
	struct ax_err err = { 0 };
	bool encrypted = true;
	(void)state;
	config.host = "127.0.0.1";
	config.tls = AX_MARIADB_TLS_AUTO;
	config.ca_file = "";
	assert_int_equal(try_open(&err, &encrypted), AX_OK);
	assert_false(encrypted);
}

static void test_an_account_that_asks_for_a_certificate(void **state)
{
	struct ax_mariadb_config own = config;
	struct ax_mariadb *db;
	struct ax_mariadb_conn *conn;
	struct ax_err err = { 0 };
	bool encrypted = false;
	(void)state;
	assert_int_equal(ax_mariadb_open(&config, &db, &err), AX_OK);
	assert_int_equal(ax_mariadb_connect(db, &conn, &err), AX_OK);
	assert_true(ax_mariadb_do(conn->mysql, "CREATE USER 'shown'@'%' IDENTIFIED BY 'ax' REQUIRE X509"));
	assert_true(ax_mariadb_do(conn->mysql, "GRANT ALL ON *.* TO 'shown'@'%'"));
	ax_mariadb_disconnect(conn);
	ax_mariadb_close(db);

	config.user = "shown";
	config.host = "localhost";
	config.tls = AX_MARIADB_TLS_ON;
	config.ca_file = ca;
	assert_int_equal(try_open(&err, &encrypted), AX_DENIED);
	assert_non_null(strstr(err.msg, "cert=FILE"));
	config.cert_file = cert;
	config.key_file = key;
	assert_int_equal(try_open(&err, &encrypted), AX_OK);
	assert_true(encrypted);
	config.cert_file = other_ca; /* nobody whom the database trusts signed it */
	config.key_file = other_key;
	enum ax_status status = try_open(&err, &encrypted); /* its word, or the broken connection that comes with it */
	assert_true(status == AX_INVALID || status == AX_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "cert=FILE"));
	config = own;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_certificate_of_the_ca_is_trusted),
		cmocka_unit_test(test_any_other_is_not),
		cmocka_unit_test(test_on_this_machine_there_is_none_unless_asked_for),
		cmocka_unit_test(test_an_account_that_asks_for_a_certificate),
	};
	struct ax_arena arena = { 0 };
	struct ax_err err;
	const char *url = getenv("AX_TEST_MYSQL"), *folder = getenv("AX_TEST_TLS");
	if (url == NULL || folder == NULL || ax_mariadb_read_url(url, &arena, &config, &err) != AX_OK) {
		fprintf(stderr,
			"run this by tests/lib/mariadb.py --tls, which needs mariadbd (make test installs it)\n");
		return 2;
	}
	snprintf(ca, sizeof(ca), "%s/ca.pem", folder);
	snprintf(other_ca, sizeof(other_ca), "%s/other.pem", folder);
	snprintf(cert, sizeof(cert), "%s/client.pem", folder);
	snprintf(key, sizeof(key), "%s/client.key", folder);
	snprintf(other_key, sizeof(other_key), "%s/other.key", folder);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ax_arena_done(&arena);
	return failed;
}
