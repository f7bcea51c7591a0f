#include "cli/args.h"

#include <string.h>

static const struct ax_opt *find_in(const struct ax_opt *opts, const char *name, size_t len)
{
	for (; opts != NULL && opts->name != NULL; opts++) {
		if (strlen(opts->name) == len && memcmp(opts->name, name, len) == 0)
			return opts;
		if (opts->alias != NULL && strlen(opts->alias) == len && memcmp(opts->alias, name, len) == 0)
			return opts;
	}
	return NULL;
}

static const struct ax_opt *find(const struct ax_args *args, const char *name, size_t len)
{
	const struct ax_opt *opt = find_in(args->opts, name, len);
	return opt != NULL ? opt : find_in(args->common, name, len);
}

/* "-n": one dash, one letter; "-" alone is an operand (standard input). */
static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1] != '\0';
}

/* Reads the option at argv[i]; *ret_used is how many arguments it took. */
static enum ax_status read_option(struct ax_args *args, int argc, char **argv, int i, int *ret_used, struct ax_err *err)
{
	const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 1);
	size_t len = strcspn(name, "=");
	bool dashes_fit = (argv[i][1] == '-') == (len > 1);
	const struct ax_opt *opt = dashes_fit ? find(args, name, len) : NULL;
	if (opt == NULL)
		return ax_fail(err, AX_INVALID, argv[i], "there is no such option here; --help lists those that are");
	if (args->n_given == AX_ARGS_MAX_GIVEN)
		return ax_fail(err, AX_INVALID, argv[i], "too many options");
	const char *value = "";
	*ret_used = 1;
	if (opt->value == NULL && name[len] == '=')
		return ax_fail(err, AX_INVALID, argv[i], "this option takes no value");
	if (opt->value != NULL && name[len] == '=') {
		value = name + len + 1;
	} else if (opt->value != NULL) {
		if (i + 1 >= argc)
			return ax_fail(err, AX_INVALID, argv[i], "a value (%s) must follow", opt->value);
		value = argv[i + 1];
		*ret_used = 2;
	}
	args->given[args->n_given].opt = opt;
	args->given[args->n_given++].value = value;
	return AX_OK;
}

enum ax_status ax_args_parse(int argc, char **argv, const struct ax_opt *opts, const struct ax_opt *common,
	struct ax_args *ret, struct ax_err *err)
{
	struct ax_args args = { .opts = opts, .common = common, .operands = argv };
	for (int i = 0; i < argc;) {
		if (strcmp(argv[i], "--") == 0) {
			args.rest = argv + i + 1;
			args.n_rest = argc - i - 1;
			break;
		}
		if (!is_option(argv[i])) {
			argv[args.n_operands++] = argv[i++];
			continue;
		}
		int used = 0;
		enum ax_status st = read_option(&args, argc, argv, i, &used, err);
		if (st != AX_OK)
			return st;
		i += used;
	}
	*ret = args;
	return AX_OK;
}

const char *ax_args_get(const struct ax_args *args, const char *name)
{
	const struct ax_opt *opt = find(args, name, strlen(name));
	AX_ASSERT(opt != NULL);
	for (int i = args->n_given - 1; i >= 0; i--)
		if (args->given[i].opt == opt)
			return args->given[i].value;
	return NULL;
}

bool ax_args_has(const struct ax_args *args, const char *name)
{
	return ax_args_get(args, name) != NULL;
}
