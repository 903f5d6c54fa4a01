/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one container. Process: warden. Privilege: that of docker's socket, through the docker CLI. */
#include "executor/docker/docker_box.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "executor/shared/ak_parse.h"

#define MS 1000u
#define ASK_S 20u	/* for a question that docker answers at once */

int docker_box_init(struct docker_box *b, const struct docker_conf *conf, const struct runner *runner, struct ak_err *err)
{
	uint8_t r[6];

	*b = (struct docker_box){.conf = conf, .runner = runner};
	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return ak_err_sys(err, errno ? errno : EIO, "take random numbers");
	(void)snprintf(b->name, sizeof(b->name), "agentkernel-%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3], r[4], r[5]);
	return 0;
}

/* runs @w, which is released here. Return: 0, or negative errno when docker could not be started */
static int call(struct docker_box *b, struct docker_words *w, struct runner_call *c, struct runner_result *ret, struct ak_err *err)
{
	int r;

	*ret = (struct runner_result){0};
	c->argv = w->v;
	if (w->failed)
		r = ak_err_set(err, ENOMEM, "not enough memory for docker's command line");
	else
		r = b->runner->run(b->runner->ctx, c, ret, err);
	docker_words_release(w);
	return r;
}

/* a call of which only the end and the output count. Return: exit code, or negative errno */
static int ask(struct docker_box *b, struct docker_words w, uint64_t seconds, struct runner_result *ret, struct ak_err *err)
{
	struct runner_call c = {.timeout_ms = seconds * MS, .fds = {-1, -1}, .hooks = b->hooks, .ctx = b->ctx};
	int r = call(b, &w, &c, ret, err);

	return r < 0 ? r : ret->timed_out ? -ETIMEDOUT : ret->code;
}

/* one that nothing ends before its time: whoever wants the container to be made no longer wants it to be gone */
static void tell(struct docker_box *b, struct docker_words w, uint64_t seconds)
{
	const struct runner_hooks *hooks = b->hooks;
	struct runner_result res;

	b->hooks = NULL;
	(void)ask(b, w, seconds, &res, NULL);
	b->hooks = hooks;
	runner_result_release(&res);
}

static void remove_it(struct docker_box *b, const char *name)
{
	tell(b, DOCKER_WORDS("rm", "-f", name), DOCKER_CLOSE_S);
}

/* an image without sh answers with 126 or 127 */
static void look_inside(struct docker_box *b)
{
	struct runner_result res = {0};
	int r = ask(b, docker_script_args(b->name, docker_facts_script()), ASK_S, &res, NULL);

	b->has_shell = r == 0;
	if (r == 0)
		docker_facts_read(res.out, &b->facts);
	runner_result_release(&res);
}

int docker_box_start(struct docker_box *b, struct ak_err *err)
{
	struct runner_result res;
	int r;

	if (b->started)
		return 0;
	r = ask(b, docker_run_args(b->conf, b->name), DOCKER_START_S, &res, err);
	if (r == 0) {
		b->started = true;
		look_inside(b);
	} else if (r > 0 || r == -ETIMEDOUT) {
		b->why = docker_start_failed(res.code, r < 0, res.err && *res.err ? res.err : res.out, b->conf->image, err);
		r = err ? -err->code : -EIO;
		/* podman leaves one that was made but could not be started; a run that was killed may have got anywhere */
		if (b->why != DOCKER_WHY_DAEMON && b->why != DOCKER_WHY_SOCKET)
			remove_it(b, b->name);
	}
	runner_result_release(&res);
	return r;
}

static void unavailable(struct docker_outcome *ret)
{
	ret->unavailable = true;
	ret->code = DOCKER_UNAVAILABLE_CODE;
	(void)ak_err_wrap(&ret->err, "docker sandbox unavailable");
}

void docker_box_run(struct docker_box *b, struct docker_command *c, const int fds[2], const struct runner_hooks *hooks, void *ctx,
		    struct docker_outcome *ret)
{
	struct runner_call rc = {.timeout_ms = UINT64_MAX, .fds = {fds[0], fds[1]}, .hooks = hooks, .ctx = ctx};
	struct docker_words w;

	*ret = (struct docker_outcome){0};
	if (docker_box_start(b, &ret->err) < 0) {
		unavailable(ret);
		return;
	}
	c->has_timeout = b->facts.has_timeout;
	if (!hooks && c->timeout_ms)
		rc.timeout_ms = (docker_seconds(c->timeout_ms) + DOCKER_SLACK_S) * MS;
	w = docker_exec_args(c, b->name);
	if (call(b, &w, &rc, &ret->r, &ret->err) < 0) {
		unavailable(ret);
		return;
	}
	ret->code = ret->r.code;
	ret->timed_out = ret->r.timed_out;
	if (ret->timed_out)	/* the CLI is gone, the command may not be */
		docker_box_kill(b);
}

void docker_box_direct(struct docker_box *b, const struct docker_command *c, const int fds[2], const struct runner_hooks *hooks,
		       void *ctx, struct docker_outcome *ret)
{
	struct runner_call rc = {.timeout_ms = UINT64_MAX, .fds = {fds[0], fds[1]}, .hooks = hooks, .ctx = ctx};
	struct docker_words w = docker_direct_args(b->conf, c, b->name);

	*ret = (struct docker_outcome){0};
	b->started = true;
	b->has_shell = false;
	if (call(b, &w, &rc, &ret->r, &ret->err) < 0) {
		unavailable(ret);
		return;
	}
	ret->code = ret->r.code;
	ret->timed_out = ret->r.timed_out;
}

bool docker_box_ran(struct docker_box *b)
{
	struct runner_result res;
	bool ran = ask(b, DOCKER_WORDS("inspect", "--format", "{{.State.Status}}", b->name), ASK_S, &res, NULL) == 0 &&
		   res.out && (strncmp(res.out, "exited", 6) == 0 || strncmp(res.out, "running", 7) == 0 ||
			       strncmp(res.out, "stopped", 7) == 0);

	runner_result_release(&res);
	return ran;
}

void docker_box_signal(struct docker_box *b, const char *signo)
{
	char script[64];

	/* kill(2) with -1: all but pid 1, which is what keeps the container */
	(void)snprintf(script, sizeof(script), "kill -%.16s -1", signo);
	if (b->started && !b->dead && b->has_shell)
		tell(b, docker_script_args(b->name, script), ASK_S);
	else if (b->started && !b->dead)	/* the command is pid 1 */
		tell(b, DOCKER_WORDS("kill", "--signal", signo, b->name), ASK_S);
}

void docker_box_kill(struct docker_box *b)
{
	if (!b->started || b->dead)
		return;
	b->dead = true;
	tell(b, DOCKER_WORDS("kill", b->name), DOCKER_CLOSE_S);
}

int docker_box_close(struct docker_box *b, struct ak_err *err)
{
	struct runner_result res;
	char line[300];
	int r;

	if (!b->started)
		return 0;
	b->started = false;
	r = ask(b, DOCKER_WORDS("rm", "-f", b->name), DOCKER_CLOSE_S, &res, err);
	if (r > 0) {
		/* --rm was quicker after a kill */
		r = docker_complaint(res.err, line, sizeof(line)) == DOCKER_WHY_GONE
			    ? 0
			    : ak_err_set(err, EIO, "the container %s could not be removed: %s", b->name, line);
	} else if (r == -ETIMEDOUT) {
		(void)ak_err_set(err, ETIMEDOUT, "the container %s was not removed within %u s", b->name, DOCKER_CLOSE_S);
	}
	if (r < 0)
		ak_err_hint(err, "the next run with --backend docker tries again; by hand: docker rm -f %s", b->name);
	runner_result_release(&res);
	return r;
}

/* a name as we give it, so that nothing else can become a word of a command line */
static bool is_our_name(const char *name, size_t len)
{
	return len == DOCKER_NAME_LEN && memcmp(name, "agentkernel-", 12) == 0 && strspn(name + 12, "0123456789abcdef") >= 12;
}

static const char owner_format[] = "{{index .Config.Labels \"" DOCKER_LABEL_OWNER "\"}}";

static bool owner_ended(struct docker_box *b, const char *name, uint64_t (*start_of)(uint64_t pid))
{
	struct runner_result res;
	struct docker_owner o;
	bool dead = false;

	if (ask(b, DOCKER_WORDS("inspect", "--format", owner_format, name), ASK_S, &res, NULL) == 0 && res.out) {
		res.out[strcspn(res.out, "\r\n")] = '\0';
		dead = docker_owner_read(res.out, &o) && docker_owner_dead(&o, &b->self, start_of(o.pid));
	}
	runner_result_release(&res);
	return dead;
}

unsigned docker_box_sweep(struct docker_box *b, uint64_t (*start_of)(uint64_t pid))
{
	struct runner_result res;
	char filter[64], name[DOCKER_NAME_LEN + 1];
	unsigned removed = 0, seen = 0;

	(void)snprintf(filter, sizeof(filter), "label=" DOCKER_LABEL_UID "=%u", b->conf->uid);
	if (ask(b, DOCKER_WORDS("ps", "-a", "--filter", filter, "--format", "{{.Names}}"), ASK_S, &res, NULL) == 0) {
		for (const char *p = res.out; p && *p && seen < DOCKER_SWEEP_MAX;) {
			size_t len = strcspn(p, "\r\n");

			if (is_our_name(p, len)) {
				memcpy(name, p, len);
				name[len] = '\0';
				seen++;
				if (strcmp(name, b->name) != 0 && owner_ended(b, name, start_of)) {
					remove_it(b, name);
					removed++;
				}
			}
			p += len + strspn(p + len, "\r\n");
		}
	}
	runner_result_release(&res);
	return removed;
}
