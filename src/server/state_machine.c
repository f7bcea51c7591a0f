#include "server/state_machine.h"

#include "core/run_fsm.h"

static const struct {
	enum ax_run_state state;
	const char *name, *text;
} states[] = {
#define AX_RUN_STATE(name, number, text) { AX_RUN_##name, #name, text },
	AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
};

static const struct {
	enum ax_run_event event;
	const char *name, *text;
} events[] = {
#define AX_RUN_EVENT(name, text) { AX_EV_##name, #name, text },
	AX_RUN_EVENTS(AX_RUN_EVENT)
#undef AX_RUN_EVENT
};

static const struct {
	enum ax_run_effect effect;
	const char *text;
} effects[] = {
	{ AX_FX_TAKE, "fence + 1, quotas taken" },
	{ AX_FX_GIVE, "quotas given back" },
	{ AX_FX_RECORD, "attempt recorded" },
	{ AX_FX_ASK, "worker asked to stop" },
	{ AX_FX_END, "ended" },
	{ AX_FX_PARENT, "parents of shards only" },
};

static void print_effects(struct ax_buf *out, unsigned set)
{
	const char *separator = "";
	for (size_t i = 0; i < AX_COUNT(effects); i++) {
		if ((set & (unsigned)effects[i].effect) == 0)
			continue;
		ax_buf_printf(out, "%s%s", separator, effects[i].text);
		separator = "; ";
	}
}

void ax_state_machine_print(struct ax_buf *out)
{
	ax_buf_adds(out,
		"# The life of a run\n\nPrinted by `ax-server --print-state-machine` from `src/core/run_fsm.c`, "
		"which is what the server does.\n\n## States\n\n| state | |\n|---|---|\n");
	for (size_t i = 0; i < AX_COUNT(states); i++)
		ax_buf_printf(out, "| `%s` | %s |\n", states[i].name, states[i].text);
	ax_buf_adds(out,
		"\nAn ended run never changes: what arrives later is recorded beside it.\n\n## Events\n\n"
		"| event | |\n|---|---|\n");
	for (size_t i = 0; i < AX_COUNT(events); i++)
		ax_buf_printf(out, "| `%s` | %s |\n", events[i].name, events[i].text);
	ax_buf_adds(out,
		"\n## Steps\n\nWhat is not listed changes nothing.\n\n"
		"| in | event | goes to | with it |\n|---|---|---|---|\n");
	for (size_t s = 0; s < AX_COUNT(states); s++) {
		for (size_t e = 0; e < AX_COUNT(events); e++) {
			struct ax_run_step step = ax_run_step(states[s].state, events[e].event);
			if (!step.allowed)
				continue;
			ax_buf_printf(out, "| `%s` | `%s` | `%s` | ", states[s].name, events[e].name,
				ax_run_state_name(step.next));
			print_effects(out, step.effects);
			ax_buf_adds(out, " |\n");
		}
	}
}
