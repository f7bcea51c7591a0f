#include "core/schedule_text.h"

#include "base/attr.h"
#include "base/rfc3339.h"

static const char *const month_names[] = { "", "January", "February", "March", "April", "May", "June", "July", "August",
	"September", "October", "November", "December" };
static const char *const weekday_names[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday" };
static const char *const ordinals[] = { "1st", "2nd", "3rd", "4th", "5th" };

static const uint64_t all_60 = (1ULL << 60) - 1;
static const uint32_t all_24 = (1U << 24) - 1;
static const uint32_t all_months = 0x1ffe;
static const uint32_t all_days = 0xfffffffeU;
static const uint32_t odd_days = 0xaaaaaaaaU;

static int count(uint64_t set)
{
	return __builtin_popcountll(set);
}

static int lowest(uint64_t set)
{
	return __builtin_ctzll(set);
}

/* n when the set is {0, n, 2n, …} up to its size, else 0. */
static int step_of(uint64_t set, int size)
{
	if (count(set) < 2 || !(set & 1))
		return 0;
	int n = lowest(set & ~1ULL);
	uint64_t steps = 0;
	for (int v = 0; v < size; v += n)
		steps |= 1ULL << v;
	return steps == set ? n : 0;
}

/* --- lists ------------------------------------------------------------------------------------------------------- */

/* Puts "", ", " or " and " before item i of n. */
static void separate(struct ax_buf *out, int i, int n)
{
	if (i > 0)
		ax_buf_adds(out, i == n - 1 ? " and " : ", ");
}

static int run_length(uint64_t set, int from)
{
	int n = 0;
	while (from + n < 64 && set >> (from + n) & 1)
		n++;
	return n;
}

/* "5, 10-20 and 30"; with names "Monday to Friday and Sunday". `names` may be NULL. */
static void list(struct ax_buf *out, uint64_t set, const char *const *names)
{
	int items = 0, i = 0;
	for (uint64_t rest = set; rest != 0; items++) {
		int from = lowest(rest), n = run_length(rest, from);
		rest &= ~((n > 2 ? (2ULL << (n - 1)) - 1 : 1ULL) << from);
	}
	for (uint64_t rest = set; rest != 0; i++) {
		int from = lowest(rest), n = run_length(rest, from);
		int to = n > 2 ? from + n - 1 : from;
		rest &= ~((n > 2 ? (2ULL << (n - 1)) - 1 : 1ULL) << from);
		separate(out, i, items);
		if (names != NULL)
			ax_buf_printf(out, to > from ? "%s to %s" : "%s", names[from], names[to]);
		else if (to > from)
			ax_buf_printf(out, "%d-%d", from, to);
		else
			ax_buf_printf(out, "%d", from);
	}
}

/* "minute 5", "minutes 5 and 20". */
static void named_list(struct ax_buf *out, const char *noun, uint64_t set)
{
	ax_buf_printf(out, "%s%s ", noun, count(set) > 1 ? "s" : "");
	list(out, set, NULL);
}

/* --- time of day ------------------------------------------------------------------------------------------------- */

static void clock_times(struct ax_buf *out, const struct ax_cron *cron)
{
	int n = count(cron->hours) * count(cron->minutes), i = 0, second = lowest(cron->seconds);
	ax_buf_adds(out, "at ");
	for (uint32_t hours = cron->hours; hours != 0; hours &= hours - 1)
		for (uint64_t minutes = cron->minutes; minutes != 0; minutes &= minutes - 1) {
			separate(out, i++, n);
			ax_buf_printf(out, "%02d:%02d", lowest(hours), lowest(minutes));
			if (second != 0)
				ax_buf_printf(out, ":%02d", second);
		}
}

/* "every minute", "every 15 minutes" or "at minutes 5 and 20". */
static void beat(struct ax_buf *out, const char *noun, uint64_t set)
{
	int step = step_of(set, 60);
	if (set == all_60)
		ax_buf_printf(out, "every %s", noun);
	else if (step != 0 && 60 % step == 0)
		ax_buf_printf(out, "every %d %ss", step, noun);
	else {
		ax_buf_adds(out, "at ");
		named_list(out, noun, set);
	}
}

/* Worth a list of times: not for a beat within an hour, which reads better as one. */
static bool few_times(const struct ax_cron *cron)
{
	bool beats = cron->interval && step_of(cron->minutes, 60) != 0;
	return !beats && count(cron->seconds) == 1 && count(cron->hours) * count(cron->minutes) <= 4;
}

static void time_of_day(struct ax_buf *out, const struct ax_cron *cron)
{
	if (few_times(cron)) {
		clock_times(out, cron);
		return;
	}
	bool at_minutes = cron->minutes != all_60 && step_of(cron->minutes, 60) == 0;
	if (cron->seconds == 1)
		beat(out, "minute", cron->minutes);
	else {
		beat(out, "second", cron->seconds);
		if (cron->minutes != all_60) {
			ax_buf_adds(out, " of ");
			named_list(out, "minute", cron->minutes);
		} else if (cron->seconds != all_60 && step_of(cron->seconds, 60) == 0)
			ax_buf_adds(out, " of every minute");
	}
	if (cron->hours != all_24) {
		ax_buf_adds(out, " in ");
		named_list(out, "hour", cron->hours);
	} else if (at_minutes)
		ax_buf_adds(out, " of every hour");
}

/* --- days --------------------------------------------------------------------------------------------------------- */

static void comma(struct ax_buf *out, bool *first)
{
	if (!*first)
		ax_buf_adds(out, ", ");
	*first = false;
}

static void days_before_last(struct ax_buf *out, uint32_t set, bool working, bool *first)
{
	for (; set != 0; set &= set - 1) {
		int n = lowest(set);
		comma(out, first);
		if (n == 0)
			ax_buf_printf(out, "the last %sday", working ? "working " : "");
		else
			ax_buf_printf(out, "%s%d day%s before the last", working ? "the working day nearest to " : "",
				n, n > 1 ? "s" : "");
	}
}

static void month_days(struct ax_buf *out, const struct ax_cron *cron)
{
	bool first = true;
	if (cron->days == odd_days || cron->days == (all_days & ~odd_days)) {
		comma(out, &first);
		ax_buf_adds(out, cron->days == odd_days ? "odd days" : "even days");
	} else if (cron->days != 0) {
		comma(out, &first);
		named_list(out, "day", cron->days);
	}
	for (uint32_t set = cron->days_nearest; set != 0; set &= set - 1) {
		comma(out, &first);
		ax_buf_printf(out, "the working day nearest to day %d", lowest(set));
	}
	days_before_last(out, cron->days_last, false, &first);
	days_before_last(out, cron->days_last_nearest, true, &first);
}

static void weekdays(struct ax_buf *out, const struct ax_cron *cron)
{
	bool first = true;
	if (cron->weekdays != 0) {
		comma(out, &first);
		list(out, cron->weekdays, weekday_names);
	}
	for (uint32_t set = cron->weekdays_last; set != 0; set &= set - 1) {
		comma(out, &first);
		ax_buf_printf(out, "the last %s", weekday_names[lowest(set)]);
	}
	for (size_t k = 0; k < AX_COUNT(ordinals); k++)
		for (uint32_t set = cron->weekdays_nth[k]; set != 0; set &= set - 1) {
			comma(out, &first);
			ax_buf_printf(out, "the %s %s", ordinals[k], weekday_names[lowest(set)]);
		}
}

/* "on day 13 or on any Friday", "on odd days that are Monday"; nothing when every day matches. */
static void day_phrase(struct ax_buf *out, const struct ax_cron *cron)
{
	if (cron->days_free && cron->weekdays_free)
		return;
	ax_buf_adds(out, "on ");
	if (!cron->days_free)
		month_days(out, cron);
	if (!cron->days_free && !cron->weekdays_free)
		ax_buf_adds(out, cron->days_or ? " or on any " : " that are ");
	if (!cron->weekdays_free)
		weekdays(out, cron);
}

/* The listed years as runs. */
static void years(struct ax_buf *out, const struct ax_cron *cron)
{
	bool first = true;
	ax_buf_adds(out, " in ");
	for (int from = 0; from <= AX_CRON_YEAR_MAX - AX_CRON_YEAR_MIN; from++) {
		int to = from;
		if (!(cron->years[from / 64] >> from % 64 & 1))
			continue;
		while (to < AX_CRON_YEAR_MAX - AX_CRON_YEAR_MIN && cron->years[(to + 1) / 64] >> (to + 1) % 64 & 1)
			to++;
		comma(out, &first);
		ax_buf_printf(out, to > from ? "%d-%d" : "%d", from + AX_CRON_YEAR_MIN, to + AX_CRON_YEAR_MIN);
		from = to;
	}
}

static void describe_cron(struct ax_buf *out, const struct ax_cron *cron)
{
	time_of_day(out, cron);
	if (!cron->days_free || !cron->weekdays_free) {
		ax_buf_addc(out, ' ');
		day_phrase(out, cron);
	} else if (few_times(cron))
		ax_buf_adds(out, " every day");
	if (cron->months != all_months) {
		ax_buf_adds(out, " in ");
		list(out, cron->months, month_names);
	}
	if (!cron->any_year)
		years(out, cron);
}

static void duration(struct ax_buf *out, int64_t s)
{
	if (s >= 3600)
		ax_buf_printf(out, "%lldh", (long long)(s / 3600));
	if (s / 60 % 60 != 0)
		ax_buf_printf(out, "%lldm", (long long)(s / 60 % 60));
	if (s % 60 != 0)
		ax_buf_printf(out, "%llds", (long long)(s % 60));
}

void ax_schedule_describe(const struct ax_schedule *schedule, struct ax_buf *out)
{
	char at[AX_RFC3339_SIZE];
	switch (schedule->kind) {
	case AX_SCHEDULE_CRON:
		describe_cron(out, &schedule->cron);
		break;
	case AX_SCHEDULE_EVERY:
		ax_buf_adds(out, "every ");
		duration(out, schedule->period_s);
		break;
	case AX_SCHEDULE_AFTER:
		duration(out, schedule->period_s);
		ax_buf_adds(out, " after the previous run ended");
		break;
	case AX_SCHEDULE_AT:
		ax_rfc3339_format(schedule->at_ms, at);
		ax_buf_printf(out, "once at %s", at);
		break;
	}
}

/* --- warnings ----------------------------------------------------------------------------------------------------- */

/* A step that leaves a shorter rest at the end of its unit. */
static int odd_step(uint64_t set, int size)
{
	int step = count(set) >= 3 ? step_of(set, size) : 0;
	return step > 1 && size % step != 0 ? step : 0;
}

static bool misses_months(const struct ax_cron *cron)
{
	for (int year = 2001; year <= 2028; year++) /* every kind of year */
		for (int month = 1; month <= 12; month++)
			if (cron->months >> month & 1 && ax_cron_days_of_month(cron, year, month) == 0)
				return true;
	return false;
}

unsigned ax_schedule_warnings(const struct ax_schedule *schedule)
{
	const struct ax_cron *cron = &schedule->cron;
	unsigned warnings = 0;
	if (schedule->kind != AX_SCHEDULE_CRON)
		return 0;
	if (!cron->days_free && !cron->weekdays_free)
		warnings |= cron->days_or ? AX_WARN_DAYS_OR : AX_WARN_DAYS_AND;
	if (cron->interval && (odd_step(cron->seconds, 60) || odd_step(cron->minutes, 60) || odd_step(cron->hours, 24)))
		warnings |= AX_WARN_STEP_RESTARTS;
	if (misses_months(cron))
		warnings |= AX_WARN_SHORT_MONTHS;
	if (cron->interval && cron->hours != all_24 && step_of(cron->hours, 24) == 0)
		warnings |= AX_WARN_INTERVAL_HOURS;
	return warnings;
}

static void step_warning(const struct ax_cron *cron, struct ax_buf *out)
{
	const struct {
		const char *unit, *parent;
		char letter;
		int step;
	} steps[] = {
		{ "seconds", "minute", 's', odd_step(cron->seconds, 60) },
		{ "minutes", "hour", 'm', odd_step(cron->minutes, 60) },
		{ "hours", "day", 'h', odd_step(cron->hours, 24) },
	};
	for (size_t i = 0; i < AX_COUNT(steps); i++) {
		if (steps[i].step == 0)
			continue;
		ax_buf_printf(out, "A step of %d %s begins anew in every %s. For an even beat use @every %d%c.",
			steps[i].step, steps[i].unit, steps[i].parent, steps[i].step, steps[i].letter);
		return;
	}
}

void ax_schedule_warning_text(const struct ax_schedule *schedule, enum ax_schedule_warning warning, struct ax_buf *out)
{
	const struct ax_cron *cron = &schedule->cron;
	switch (warning) {
	case AX_WARN_DAYS_OR:
	case AX_WARN_DAYS_AND:
		ax_buf_adds(out, "Runs ");
		day_phrase(out, cron);
		ax_buf_adds(
			out, warning == AX_WARN_DAYS_OR ? "." : ", as crond does; many libraries read this as \"or\".");
		break;
	case AX_WARN_STEP_RESTARTS:
		step_warning(cron, out);
		break;
	case AX_WARN_SHORT_MONTHS:
		ax_buf_adds(out, "Does not run in every month: some have no such day.");
		break;
	case AX_WARN_INTERVAL_HOURS:
		ax_buf_adds(out, "Follows the clock within ");
		named_list(out, "hour", cron->hours);
		ax_buf_adds(out,
			": does not run in an hour that the clock skips, and runs twice through one that it "
			"repeats.");
		break;
	}
}

const char *ax_schedule_warning_code(enum ax_schedule_warning warning)
{
	switch (warning) {
	case AX_WARN_DAYS_OR:
		return "days_or";
	case AX_WARN_DAYS_AND:
		return "days_and";
	case AX_WARN_STEP_RESTARTS:
		return "step_restarts";
	case AX_WARN_SHORT_MONTHS:
		return "short_months";
	case AX_WARN_INTERVAL_HOURS:
		return "interval_hours";
	}
	return "";
}
