/* GET /api/v1/tasks/{id}/graph: what stands before and behind a task. */

#include "server/handlers.h"
#include "server/render.h"

enum { TASKS_SHOWN = 200 };

struct node {
	int64_t id;
	int distance; /* from the task asked for: negative before it, positive behind it */
};

struct graph {
	struct ax_call *c;
	struct node nodes[TASKS_SHOWN];
	int n;
	bool truncated;
};

static bool knows(const struct graph *g, int64_t id)
{
	for (int i = 0; i < g->n; i++)
		if (g->nodes[i].id == id)
			return true;
	return false;
}

/* One step from the task at `at`, up or down. */
static enum ax_status step(struct graph *g, int at, int way, struct ax_err *err)
{
	struct ax_upstreams rows;
	struct ax_tx *tx = g->c->tx;
	enum ax_status status = way < 0 ? tx->ops->upstreams_of(tx, g->nodes[at].id, &rows, err)
					: tx->ops->downstreams_of(tx, g->nodes[at].id, &rows, err);
	for (int i = 0; status == AX_OK && i < rows.n; i++) {
		int64_t id = way < 0 ? rows.at[i].upstream_id : rows.at[i].task_id;
		if (knows(g, id))
			continue;
		if (g->n == TASKS_SHOWN) {
			g->truncated = true;
			break;
		}
		g->nodes[g->n++] = (struct node){ id, g->nodes[at].distance + way };
	}
	return status;
}

/* All that is reached in one direction, nearest first. */
static enum ax_status walk(struct graph *g, int way, struct ax_err *err)
{
	enum ax_status status = step(g, 0, way, err);
	for (int at = 1; status == AX_OK && at < g->n; at++)
		if ((g->nodes[at].distance < 0) == (way < 0))
			status = step(g, at, way, err);
	return status;
}

static enum ax_status render_task(struct graph *g, const struct node *node, struct ax_err *err)
{
	struct ax_json *json = &g->c->json;
	struct ax_task task;
	enum ax_status status = g->c->tx->ops->task_get(g->c->tx, node->id, false, &task, err);
	if (status != AX_OK)
		return status;
	ax_json_obj(json, NULL);
	ax_json_id(json, "id", task.id);
	ax_json_str(json, "group_key", task.def.group_key);
	ax_json_str(json, "task_name", task.def.task_name);
	ax_json_str(json, "status", ax_task_status_words[task.status]);
	ax_json_str(json, "join", task.def.join_all ? "all" : "any");
	ax_json_int(json, "distance", node->distance);
	ax_render_last_run(json, &task);
	ax_json_obj_end(json);
	return AX_OK;
}

static enum ax_status render_edges(struct graph *g, const struct node *node, struct ax_err *err)
{
	struct ax_json *json = &g->c->json;
	struct ax_upstreams rows;
	enum ax_status status = g->c->tx->ops->upstreams_of(g->c->tx, node->id, &rows, err);
	for (int i = 0; status == AX_OK && i < rows.n; i++) {
		if (!knows(g, rows.at[i].upstream_id))
			continue;
		ax_json_obj(json, NULL);
		ax_json_id(json, "task_id", node->id);
		ax_json_id(json, "upstream_id", rows.at[i].upstream_id);
		ax_json_obj_end(json);
	}
	return status;
}

enum ax_status ax_get_task_graph(struct ax_call *c, struct ax_err *err)
{
	struct graph *g = ax_alloc(&c->arena, sizeof(*g));
	struct ax_task task;
	int64_t id;
	enum ax_status status = ax_call_id(c, 0, "task", &id, err);
	if (status == AX_OK)
		status = c->tx->ops->task_get(c->tx, id, false, &task, err);
	if (status == AX_NOT_FOUND)
		return ax_fail(err, AX_NOT_FOUND, "", "there is no task `%.64s`", c->param[0]);
	g->c = c;
	g->nodes[g->n++] = (struct node){ id, 0 };
	if (status == AX_OK)
		status = walk(g, -1, err);
	if (status == AX_OK)
		status = walk(g, 1, err);
	ax_json_obj(&c->json, NULL);
	ax_json_id(&c->json, "task_id", id);
	ax_json_arr(&c->json, "tasks");
	for (int i = 0; status == AX_OK && i < g->n; i++)
		status = render_task(g, &g->nodes[i], err);
	ax_json_arr_end(&c->json);
	ax_json_arr(&c->json, "edges");
	for (int i = 0; status == AX_OK && i < g->n; i++)
		status = render_edges(g, &g->nodes[i], err);
	ax_json_arr_end(&c->json);
	ax_json_bool(&c->json, "truncated", g->truncated);
	ax_json_obj_end(&c->json);
	return status;
}
