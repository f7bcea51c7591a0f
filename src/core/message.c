#include "core/message.h"

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"

/* A line is read once from left to right; where a word begins, the first rule that fits decides what becomes of it.
 * Letters are those of ASCII; bytes of other characters are copied and belong to no word. */

enum {
	HEAD_LINES = 4,
	CODE_DIGITS = 5,
	SPAN_MAX = 256, /* no rule looks farther: the time stays linear in the length, whatever the text */
};

struct text {
	char *at;
	size_t len, max;
};

struct line {
	const char *begin, *at, *end;
	struct text *out;
	bool in_url;
	bool telling; /* inside a quoted text that is kept */
};

/* --- characters --------------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_alpha(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool is_word(char c)
{
	return is_digit(c) || is_alpha(c);
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_blank(char c)
{
	return (unsigned char)c <= ' ' || c == '\x7f';
}

static char lower(char c)
{
	return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

/* The character `i` places on, NUL behind the end. */
static char peek(const struct line *l, size_t i)
{
	return i < (size_t)(l->end - l->at) ? l->at[i] : '\0';
}

static char before(const struct line *l)
{
	return l->at > l->begin ? l->at[-1] : ' ';
}

static size_t span(const struct line *l, size_t from, bool (*is)(char))
{
	size_t i = from;
	while (l->at + i < l->end && i - from < SPAN_MAX && is(l->at[i]))
		i++;
	return i - from;
}

static bool equals(const char *s, size_t len, const char *word)
{
	if (strlen(word) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (lower(s[i]) != lower(word[i]))
			return false;
	return true;
}

static bool is_one_of(const char *s, size_t len, const char *const *words)
{
	while (*words != NULL && !equals(s, len, *words))
		words++;
	return *words != NULL;
}

/* --- what is written ---------------------------------------------------------------------------------------------- */

static void put(struct text *out, const char *s, size_t len)
{
	size_t n = AX_MIN(len, out->max - out->len);
	memcpy(out->at + out->len, s, n);
	out->len += n;
}

static void take(struct line *l, size_t n)
{
	put(l->out, l->at, n);
	l->at += n;
}

/* Writes a mark for the next n characters. A list of marks of one kind is written as one. */
static void replace(struct line *l, size_t n, const char *mark)
{
	struct text *out = l->out;
	size_t len = strlen(mark), tail = out->len;
	while (tail > 0 && out->len - tail < 3 && strchr(" ,;", out->at[tail - 1]) != NULL)
		tail--;
	if (tail >= len && memcmp(out->at + tail - len, mark, len) == 0)
		out->len = tail;
	else
		put(out, mark, len);
	l->at += n;
}

/* --- instants ----------------------------------------------------------------------------------------------------- */

enum piece { NO_PIECE, WEEKDAY, MONTH, DATE, CLOCK, NUMBER, ZONE };

static const char *const weekdays[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Monday", "Tuesday",
	"Wednesday", "Thursday", "Friday", "Saturday", "Sunday", NULL };
static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
	"Dec", "January", "February", "March", "April", "June", "July", "August", "September", "October", "November",
	"December", NULL };
static const char *const zones[] = { "Z", "UTC", "GMT", "AM", "PM", "CET", "CEST", "BST", "CST", "CDT", "EST", "EDT",
	"MST", "MDT", "PST", "PDT", "JST", "IST", NULL };

/* Digits, a separator, digits, the separator, digits: 2026-06-01, 01.06.2026. */
static size_t date_at(const struct line *l, size_t from)
{
	size_t a = span(l, from, is_digit);
	char separator = peek(l, from + a);
	if (separator != '-' && separator != '/' && separator != '.')
		return 0;
	size_t b = span(l, from + a + 1, is_digit);
	if (peek(l, from + a + 1 + b) != separator)
		return 0;
	size_t c = span(l, from + a + b + 2, is_digit);
	bool year_first = a == 4 && c >= 1 && c <= 2, year_last = c == 4 && a >= 1 && a <= 2;
	return b >= 1 && b <= 2 && (year_first || year_last) ? a + b + c + 2 : 0;
}

/* 12:30, 12:30:59, 12:30:59.123 */
static size_t clock_at(const struct line *l, size_t from, bool *ret_seconds)
{
	size_t n = span(l, from, is_digit);
	*ret_seconds = false;
	if (n < 1 || n > 2 || peek(l, from + n) != ':' || span(l, from + n + 1, is_digit) != 2)
		return 0;
	n += 3;
	if (peek(l, from + n) == ':' && span(l, from + n + 1, is_digit) == 2) {
		*ret_seconds = true;
		n += 3;
		if ((peek(l, from + n) == '.' || peek(l, from + n) == ',') && is_digit(peek(l, from + n + 1)))
			n += 1 + span(l, from + n + 1, is_digit);
	}
	return n;
}

static enum piece piece_at(const struct line *l, size_t from, enum piece previous, size_t *ret_len, bool *ret_seconds)
{
	const char *s = l->at + from;
	char c = peek(l, from);
	*ret_seconds = false;
	if (is_alpha(c)) {
		*ret_len = span(l, from, is_alpha);
		if (is_digit(peek(l, from + *ret_len)))
			return NO_PIECE;
		return is_upper(c) && is_one_of(s, *ret_len, weekdays)  ? WEEKDAY
			: is_upper(c) && is_one_of(s, *ret_len, months) ? MONTH
			: is_upper(c) && is_one_of(s, *ret_len, zones)  ? ZONE
									: NO_PIECE;
	}
	if ((c == '+' || c == '-') && previous == CLOCK) {
		size_t n = span(l, from + 1, is_digit);
		bool colon = n == 2 && peek(l, from + 3) == ':' && span(l, from + 4, is_digit) == 2;
		*ret_len = colon ? 6 : 1 + n;
		return colon || n == 4 || n == 2 ? ZONE : NO_PIECE;
	}
	if (!is_digit(c))
		return NO_PIECE;
	if ((*ret_len = date_at(l, from)) > 0)
		return DATE;
	if ((*ret_len = clock_at(l, from, ret_seconds)) > 0)
		return CLOCK;
	*ret_len = span(l, from, is_digit);
	return *ret_len <= 4 && !is_alpha(peek(l, from + *ret_len)) ? NUMBER : NO_PIECE;
}

/* What may stand between two pieces: a blank, a comma, the T of RFC 3339, the marks of 01/Jun/2026:12:00:00. */
static size_t gap_at(const struct line *l, size_t from, enum piece previous)
{
	if (peek(l, from) == 'T' && previous == DATE)
		return 1;
	size_t n = 0;
	while (n < 2 && strchr(" ,/-:_", peek(l, from + n)) != NULL && peek(l, from + n) != '\0')
		n++;
	/* the sign of a zone is no gap */
	return n > 0 && previous == CLOCK && peek(l, from + n - 1) == '-' ? n - 1 : n;
}

/* Length of the instant that begins here, in any of the usual forms; 0 = there is none. */
static size_t instant_at(const struct line *l)
{
	enum piece previous = NO_PIECE;
	size_t from = 0, good = 0, len;
	bool month = false, seconds, any_clock = before(l) != ':';
	for (int i = 0; i < 7; i++) {
		enum piece piece = piece_at(l, from, previous, &len, &seconds);
		if (piece == NO_PIECE)
			break;
		bool is_year = piece == NUMBER && len == 4 && month && (previous == CLOCK || previous == ZONE);
		if (piece == NUMBER && previous != NO_PIECE && previous != MONTH && previous != WEEKDAY && !is_year)
			break;
		from += len;
		if (piece == DATE || is_year || (piece == CLOCK && (seconds || any_clock || previous != NO_PIECE)) ||
			(piece == ZONE && previous == CLOCK) || (piece == MONTH && previous == NUMBER) ||
			(piece == NUMBER && previous == MONTH))
			good = from;
		month = month || piece == MONTH;
		previous = piece;
		from += gap_at(l, from, previous);
	}
	return good;
}

/* --- numbers, addresses, ids -------------------------------------------------------------------------------------- */

static size_t uuid_at(const struct line *l)
{
	static const unsigned char groups[] = { 8, 4, 4, 4, 12 };
	size_t n = 0;
	for (size_t i = 0; i < AX_COUNT(groups); i++) {
		if (i > 0 && peek(l, n++) != '-')
			return 0;
		if (span(l, n, is_hex) != groups[i])
			return 0;
		n += groups[i];
	}
	return is_word(peek(l, n)) ? 0 : n;
}

static size_t port_at(const struct line *l, size_t from)
{
	size_t n = peek(l, from) == ':' ? span(l, from + 1, is_digit) : 0;
	return n >= 1 && n <= 5 ? 1 + n : 0;
}

static size_t ip4_at(const struct line *l)
{
	size_t n = 0;
	for (int i = 0; i < 4; i++) {
		if (i > 0 && peek(l, n++) != '.')
			return 0;
		size_t digits = span(l, n, is_digit);
		if (digits < 1 || digits > 3)
			return 0;
		n += digits;
	}
	if (is_word(peek(l, n)) || (peek(l, n) == '.' && is_digit(peek(l, n + 1))))
		return 0;
	return n + port_at(l, n);
}

static bool is_ip6(char c)
{
	return is_hex(c) || c == ':';
}

/* IPv6 and MAC addresses; a digit must be there, for C++ writes a::b too. */
static size_t ip6_at(const struct line *l)
{
	size_t n = span(l, 0, is_ip6), colons = 0;
	bool digit = false, twice = false;
	while (n > 1 && l->at[n - 1] == ':' && l->at[n - 2] != ':') /* the colon of a sentence */
		n--;
	for (size_t i = 0; i < n; i++) {
		colons += l->at[i] == ':';
		digit = digit || is_digit(l->at[i]);
		twice = twice || (i > 0 && l->at[i] == ':' && l->at[i - 1] == ':');
	}
	return digit && !is_alpha(peek(l, n)) && (colons >= 5 || (twice && colons >= 2 && n > 2)) ? n : 0;
}

static bool is_local_part(char c)
{
	return is_word(c) || strchr("._%+-", c) != NULL;
}

static bool is_host(char c)
{
	return is_word(c) || c == '.' || c == '-';
}

static size_t email_at(const struct line *l)
{
	size_t n = span(l, 0, is_local_part);
	if (n == 0 || peek(l, n) != '@' || l->in_url)
		return 0;
	size_t host = span(l, n + 1, is_host);
	while (host > 0 && strchr(".-", l->at[n + host]) != NULL) /* the dot of a sentence */
		host--;
	return host > 0 && memchr(l->at + n + 1, '.', host) != NULL ? n + 1 + host : 0;
}

static const char *const units[] = { "ms", "us", "ns", "s", "m", "h", "d", "min", "sec", "B", "K", "KB", "kB", "KiB",
	"M", "MB", "MiB", "G", "GB", "GiB", "T", "TB", "TiB", "k", NULL };

/* 17, 1.5, 1,000,000, 2.0.1, 1e-9, 30s, 1m30.5s, 12%; 0 when letters follow that are no unit. */
static size_t number_at(const struct line *l)
{
	size_t n = 0;
	do {
		n += span(l, n, is_digit);
		while ((peek(l, n) == '.' || peek(l, n) == ',') && is_digit(peek(l, n + 1)))
			n += 1 + span(l, n + 1, is_digit);
		size_t sign = peek(l, n + 1) == '-' || peek(l, n + 1) == '+';
		if (lower(peek(l, n)) == 'e' && is_digit(peek(l, n + 1 + sign)))
			n += 1 + sign + span(l, n + 1 + sign, is_digit);
		size_t letters = span(l, n, is_alpha);
		if (letters > 0 && !is_one_of(l->at + n, letters, units))
			return 0;
		n += letters;
	} while (is_digit(peek(l, n)));
	return n + (peek(l, n) == '%');
}

/* Is this number a code by what stands before it: "errno 13", "SQLSTATE[42000]", "status=503"? */
static bool is_code(const struct line *l)
{
	static const char *const words[] = { "errno", "error", "code", "status", "signal", "sqlstate", "http", NULL };
	const char *at = l->at;
	size_t digits = span(l, 0, is_digit), len = 0;
	if (digits > CODE_DIGITS || is_word(peek(l, digits)) ||
		(peek(l, digits) == '.' && is_digit(peek(l, digits + 1))))
		return false;
	for (int i = 0; i < 3 && at > l->begin && strchr(" =:[(#", at[-1]) != NULL; i++)
		at--;
	while (at - len > l->begin && is_alpha(at[-(ptrdiff_t)len - 1]))
		len++;
	return at < l->at && is_one_of(at - len, len, words);
}

/* Error numbers of well-known products, which tell failures apart: ORA-00942, SQL0803N. */
static size_t known_code_at(const struct line *l)
{
	static const char *const products[] = { "ORA", "PLS", "TNS", "SQL", "AADSTS", "PGRST", NULL };
	size_t letters = span(l, 0, is_alpha), dash = peek(l, letters) == '-';
	size_t digits = span(l, letters + dash, is_digit), n = letters + dash + digits;
	bool known = is_upper(l->at[0]) && is_one_of(l->at, letters, products);
	return known && digits >= 3 && digits <= CODE_DIGITS ? n + span(l, n, is_alpha) : 0;
}

/* What a word of letters and digits is. */
static const char *mark_of_word(const char *s, size_t len)
{
	size_t digits = 0, uppers = 0, hex = 0, changes = 0;
	for (size_t i = 0; i < len; i++) {
		digits += is_digit(s[i]);
		uppers += is_upper(s[i]);
		hex += is_hex(s[i]);
		changes += i > 0 && is_digit(s[i]) != is_digit(s[i - 1]);
	}
	bool mixed = digits > 0 && digits<len, prefix = len> 2 && s[0] == '0' && lower(s[1]) == 'x';
	if ((prefix && hex == len - 1) || (mixed && hex == len && len >= 7))
		return "<hex>";
	if ((mixed && changes >= 3 && len >= 5) || (mixed && uppers > 0 && digits + uppers < len && len >= 20))
		return "<id>";
	return NULL;
}

/* A word that holds digits and is nothing as a whole: each number in it is replaced. */
static void take_parts(struct line *l, size_t len)
{
	for (const char *end = l->at + len; l->at < end;) {
		size_t digits = span(l, 0, is_digit);
		if (digits > 0)
			replace(l, digits, "<n>");
		else
			take(l, 1);
	}
}

static void take_word(struct line *l)
{
	size_t len = span(l, 0, is_word), n;
	const char *mark = mark_of_word(l->at, len);
	bool hash = mark != NULL && strcmp(mark, "<hex>") == 0; /* 1b6d3586 is no number with units */
	if ((n = instant_at(l)) > 0)
		replace(l, n, "<time>");
	else if ((n = uuid_at(l)) > 0)
		replace(l, n, "<id>");
	else if ((n = ip4_at(l)) > 0 || (n = ip6_at(l)) > 0)
		replace(l, n, "<addr>");
	else if ((n = email_at(l)) > 0)
		replace(l, n, "<email>");
	else if ((n = known_code_at(l)) > 0)
		take(l, n);
	else if (is_digit(l->at[0]) && is_code(l))
		take(l, span(l, 0, is_digit));
	else if (is_digit(l->at[0]) && !hash && (n = number_at(l)) > 0)
		replace(l, n, "<n>");
	else if (mark != NULL)
		replace(l, len, mark);
	else
		take_parts(l, len);
}

/* --- paths and quotes --------------------------------------------------------------------------------------------- */

/* Names of temporary files are made up: only where they lie is kept. */
static bool take_temporary(struct line *l)
{
	static const char *const roots[] = { "/tmp/", "/var/tmp/", "/var/folders/", "/dev/shm/" };
	for (size_t i = 0; i < AX_COUNT(roots); i++) {
		size_t root = strlen(roots[i]);
		if ((size_t)(l->end - l->at) <= root || memcmp(l->at, roots[i], root) != 0)
			continue;
		take(l, root);
		size_t n = 0;
		while (l->at + n < l->end && !is_blank(l->at[n]) && strchr(":,;'\"`)]}", l->at[n]) == NULL)
			n++;
		replace(l, n, "<path>");
		return true;
	}
	return false;
}

static void normalise_line(const char *s, size_t len, bool telling, struct text *out);

static const char *const quotes[][2] = { { "\"", "\"" }, { "'", "'" }, { "`", "`" }, { "`", "'" },
	{ "\xe2\x80\x9c", "\xe2\x80\x9d" }, { "\xe2\x80\x98", "\xe2\x80\x99" }, { "\xe3\x80\x8c", "\xe3\x80\x8d" } };

/* The place of the closing quote, NULL when there is none: an apostrophe between letters closes nothing. */
static const char *closing(const struct line *l, const char *from, const char *close)
{
	size_t n = strlen(close);
	const char *last = l->end - from > SPAN_MAX ? from + SPAN_MAX : l->end;
	for (const char *at = from; at + n <= last; at++) {
		if (*at == '\\')
			at++;
		else if (memcmp(at, close, n) == 0 && (*close != '\'' || at + n == l->end || !is_word(at[n])))
			return at;
	}
	return NULL;
}

/* JSON: does this text say what went wrong, by the key that stands before it? */
static bool is_telling(const struct line *l)
{
	static const char *const keys[] = { "error", "errors", "code", "message", "msg", "type", "reason", "title",
		"detail", "details", "description", "status", "exception", "errorCode", "error_code", "errorMessage",
		"error_message", "error_description", NULL };
	const char *at = l->at;
	size_t len = 0;
	while (at > l->begin && strchr(" :[{", at[-1]) != NULL)
		at--;
	if (at == l->begin || at[-1] != '"' || at == l->at)
		return false;
	at--;
	while (at - len > l->begin && at[-(ptrdiff_t)len - 1] != '"')
		len++;
	return is_one_of(at - len, len, keys);
}

/* A quoted value is what differs from run to run, but keys of JSON and the texts behind telling ones are kept. */
static bool take_quoted(struct line *l)
{
	for (size_t i = 0; i < AX_COUNT(quotes); i++) {
		size_t open = strlen(quotes[i][0]), close = strlen(quotes[i][1]);
		if ((size_t)(l->end - l->at) <= open || memcmp(l->at, quotes[i][0], open) != 0 ||
			(*quotes[i][0] == '\'' && is_word(before(l))))
			continue;
		const char *end = closing(l, l->at + open, quotes[i][1]);
		if (end == NULL)
			continue;
		size_t len = (size_t)(end - l->at) - open;
		char next = peek(l, open + len + close);
		if (*quotes[i][0] == '"' && next == ':') {
			take(l, open + len + close);
		} else if (*quotes[i][0] == '"' && is_telling(l)) {
			take(l, open);
			normalise_line(l->at, len, true, l->out);
			l->at += len;
			take(l, close);
		} else {
			replace(l, open + len + close, "<text>");
		}
		return true;
	}
	return false;
}

/* Colours and other orders to a terminal. */
static size_t escape_at(const struct line *l)
{
	if (peek(l, 0) != '\x1b' || peek(l, 1) != '[')
		return 0;
	size_t n = 2;
	while (l->at + n < l->end && (l->at[n] < '@' || l->at[n] > '~'))
		n++;
	return AX_MIN(n + 1, (size_t)(l->end - l->at));
}

static bool is_url_rest(char c)
{
	return !is_blank(c) && strchr("\"'`)]", c) == NULL;
}

static void take_other(struct line *l)
{
	char c = l->at[0];
	bool signs = (c == '-' || c == '+') && is_digit(peek(l, 1)) && strchr(" =:([,<>", before(l)) != NULL;
	size_t n = escape_at(l);
	if (n > 0 || signs) {
		l->at += n > 0 ? n : 1;
	} else if (is_blank(c)) {
		if (l->out->len > 0 && l->out->at[l->out->len - 1] != ' ')
			put(l->out, " ", 1);
		l->at++;
		l->in_url = false;
	} else if (c == '/' && !is_word(before(l)) && before(l) != '/' && take_temporary(l)) {
		return;
	} else if (c == '?' && l->in_url) {
		replace(l, span(l, 0, is_url_rest), "?<query>");
	} else if (c == '@' && is_word(before(l)) && span(l, 1, is_hex) >= 4 &&
		span(l, 1, is_hex) == span(l, 1, is_word)) {
		take(l, 1); /* Java's Object@1b6d3586 */
		replace(l, span(l, 0, is_hex), "<hex>");
	} else if (c == ':' && peek(l, 1) == ':' && !is_word(before(l)) && (n = ip6_at(l)) > 0) {
		replace(l, n, "<addr>");
	} else {
		l->in_url = l->in_url || (c == ':' && peek(l, 1) == '/' && peek(l, 2) == '/');
		take(l, 1);
	}
}

static void normalise_line(const char *s, size_t len, bool telling, struct text *out)
{
	struct line l = { .begin = s, .at = s, .end = s + len, .out = out, .telling = telling };
	while (l.at < l.end && out->len < out->max) {
		if (is_word(*l.at))
			take_word(&l);
		else if (l.telling || !take_quoted(&l))
			take_other(&l);
	}
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

struct lines {
	struct {
		const char *at;
		size_t len;
	} line[HEAD_LINES + 1]; /* the last one takes the place behind the head */
	int n;
};

/* Lines that hold anything: the first ones and the last. */
static struct lines choose_lines(const char *message)
{
	struct lines lines = { 0 };
	for (const char *at = message; *at != '\0';) {
		size_t len = strcspn(at, "\n"), blank = strspn(at, " \t\r");
		if (blank < len) {
			int i = AX_MIN(lines.n, HEAD_LINES);
			lines.line[i].at = at + blank;
			lines.line[i].len = len - blank;
			lines.n = i + 1;
		}
		at += len + (at[len] == '\n');
	}
	return lines;
}

static void close_text(struct text *out)
{
	while (out->len > 0 && out->at[out->len - 1] == ' ')
		out->len--;
	size_t last = out->len; /* an incomplete character at the end is cut off */
	while (last > 0 && ((unsigned char)out->at[last - 1] & 0xc0) == 0x80)
		last--;
	if (last > 0 && (unsigned char)out->at[last - 1] >= 0xc0) {
		unsigned char lead = (unsigned char)out->at[last - 1];
		size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
		if (out->len - (last - 1) < wanted)
			out->len = last - 1;
	}
	out->at[out->len] = '\0';
}

size_t ax_message_normalise(const char *message, char *ret, size_t size)
{
	struct lines lines = choose_lines(message);
	struct text out = { ret, 0, size - 1 };
	for (int i = 0; i < lines.n; i++) {
		if (i > 0)
			put(&out, "\n", 1);
		normalise_line(lines.line[i].at, lines.line[i].len, false, &out);
	}
	close_text(&out);
	return out.len;
}

/* Python says what went wrong on the last line, everybody else on the first. */
void ax_message_title(const char *message, char *ret, size_t size)
{
	static const char python[] = "Traceback (most recent call last)";
	struct lines lines = choose_lines(message);
	struct text out = { ret, 0, size - 1 };
	if (lines.n > 0) {
		int i = strncmp(lines.line[0].at, python, sizeof(python) - 1) == 0 ? lines.n - 1 : 0;
		normalise_line(lines.line[i].at, lines.line[i].len, false, &out);
	}
	close_text(&out);
}
