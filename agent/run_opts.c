/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the agent's half of the command line of `ak run`. Pure. Process: agent. Privilege: none. */
#include "agent/run_opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

struct opt;
typedef int opt_fn(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err);

/* One option; a NULL name ends the table. What has no @set is a text or a flag at @at. */
struct opt {
	const char *name;
	char letter;
	bool has_value;
	size_t at;
	opt_fn *set;
};

#define AT(field) offsetof(struct run_opts, field)

static void *field(struct run_opts *o, const struct opt *d)
{
	return (char *)o + d->at;
}

/* how it was said: a setting by its place, an option by its name */
static int __attribute__((format(printf, 4, 5))) wrong(const struct run_opts *o, const struct opt *d, struct ak_err *err, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (o->said)
		return ak_err_set(err, EINVAL, "%.300s: %s", o->said, text);
	return ak_err_set(err, EINVAL, "run: --%s: %s", d->name, text);
}

static int bad(const struct run_opts *o, const struct opt *d, const char *value, const char *want, struct ak_err *err)
{
	return wrong(o, d, err, "\"%.60s\" is not %s", value, want);
}

static int set_count(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	uint64_t *to = field(o, d);

	return ak_parse_u64(value, 0, UINT64_C(1) << 53, to) < 0 ? bad(o, d, value, "a number", err) : 0;
}

static int set_positive(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	uint64_t *to = field(o, d);

	return ak_parse_u64(value, 1, UINT64_C(1) << 53, to) < 0 ? bad(o, d, value, "a number above 0", err) : 0;
}

static int set_duration(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	uint64_t ms = 0;

	if (ak_parse_duration(value, &ms) < 0)
		return bad(o, d, value, "a duration such as 90, 500ms, 30s, 5m, 1h", err);
	*(uint64_t *)field(o, d) = ms;
	return 0;
}

/* a tool's time is in whole seconds, and no tool ends in none */
static int set_seconds(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	int rc = set_duration(o, d, value, err);
	uint64_t *ms = field(o, d);

	if (rc == 0 && *ms < 1000)
		return bad(o, d, value, "a second or more", err);
	*ms = (*ms + 999) / 1000 * 1000;
	o->tool_timeout_given |= ms == &o->tool_timeout_ms;
	return rc;
}

static int set_cost(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	struct ak_err why = { 0 };

	return budget_parse_usd(value, &o->limits.cost_picousd, &why) < 0 ? wrong(o, d, err, "%s", why.msg) : 0;
}

static const struct {
	const char *name;
	enum approve_policy policy;
} policies[] = {
	{ "ask", APPROVE_ALWAYS_ASK },		 { "always_ask", APPROVE_ALWAYS_ASK },	   { "auto", APPROVE_AUTO_ALLOW },
	{ "auto_allow", APPROVE_AUTO_ALLOW },	 { "deny-mutations", APPROVE_DENY_MUTATIONS }, { "deny_mutations", APPROVE_DENY_MUTATIONS },
	{ "smart", APPROVE_SMART },
};

static int set_policy(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	o->policy_given = true;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (strcmp(value, policies[i].name) == 0) {
			o->policy = policies[i].policy;
			return 0;
		}
	}
	return bad(o, d, value, "ask, auto, deny-mutations or smart", err);
}

static int set_yes(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	(void)d;
	(void)value;
	(void)err;
	o->policy_given = true;
	o->policy = APPROVE_AUTO_ALLOW;
	return 0;
}

static int set_format(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	static const char *const names[] = { "text", "json", "stream-json" };

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(value, names[i]) == 0) {
			o->format = (enum run_format)i;
			return 0;
		}
	}
	return bad(o, d, value, "text, json or stream-json", err);
}

static int set_apply(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	static const char *const names[] = { NULL, "always", "ask", "never" };

	for (unsigned i = 1; i < 4; i++) {
		if (strcmp(value, names[i]) == 0) {
			o->apply = (enum run_apply)i;
			return 0;
		}
	}
	return bad(o, d, value, "always, ask or never", err);
}

static int set_json(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	(void)d;
	(void)value;
	(void)err;
	o->format = RUN_JSON;
	return 0;
}

static int set_list(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	struct run_list *l = field(o, d);

	if (l->n == RUN_LIST_MAX)
		return wrong(o, d, err, "given more than %u times", RUN_LIST_MAX);
	l->v[l->n++] = value;
	return 0;
}

static int set_unknown_price(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	o->limits.unknown_price_ok = strcmp(value, "allow") == 0;
	return o->limits.unknown_price_ok || strcmp(value, "refuse") == 0 ? 0 : bad(o, d, value, "refuse or allow", err);
}

/* where it is said stays with it: a file that cannot be read is found out later */
static int set_provider(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	struct run_list *l = field(o, d);

	if (l->n + 2 > RUN_LIST_MAX)
		return wrong(o, d, err, "more than %u settings", RUN_LIST_MAX / 2);
	l->v[l->n++] = o->said;
	l->v[l->n++] = value;
	return 0;
}

static const struct opt of_files[] = {
	{ "providers", 0, true, AT(providers), set_provider },
	{ NULL, 0, false, 0, NULL },
};

static const struct opt table[] = {
	{ "model", 'm', true, AT(model), NULL },
	{ "api", 0, true, AT(api), NULL },
	{ "base-url", 0, true, AT(base_url), NULL },
	{ "replay", 0, true, AT(replay), NULL },
	{ "effort", 0, true, AT(effort), NULL },
	{ "ca-file", 0, true, AT(ca_file), NULL },
	{ "plain-http", 0, false, AT(plain_http), NULL },
	{ "max-response-tokens", 0, true, AT(max_response_tokens), set_positive },
	{ "context", 0, true, AT(context), set_positive },
	{ "apply", 0, true, 0, set_apply },
	{ "approval", 0, true, 0, set_policy },
	{ "yes", 'y', false, 0, set_yes },
	{ "plan", 0, false, AT(plan), NULL },
	{ "allow", 0, true, AT(allow), set_list },
	{ "deny", 0, true, AT(deny), set_list },
	{ "max-cost", 0, true, 0, set_cost },
	{ "max-input-tokens", 0, true, AT(limits.input_tokens), set_count },
	{ "max-output-tokens", 0, true, AT(limits.output_tokens), set_count },
	{ "max-turns", 0, true, AT(limits.turns), set_count },
	{ "max-tool-calls", 0, true, AT(limits.tool_calls), set_count },
	{ "timeout", 0, true, AT(limits.time_ms), set_duration },
	{ "tool-timeout", 0, true, AT(tool_timeout_ms), set_seconds },
	{ "max-tool-timeout", 0, true, AT(max_tool_timeout_ms), set_seconds },
	{ "output", 'o', true, 0, set_format },
	{ "json", 0, false, 0, set_json },
	{ "output-last-message", 0, true, AT(output_last_message), NULL },
	{ "output-schema", 0, true, AT(output_schema), NULL },
	{ "attach", 0, true, AT(attach), set_list },
	{ "resume", 0, true, AT(resume), NULL },
	{ "continue", 0, false, AT(go_on), NULL },
	{ "ephemeral", 0, false, AT(ephemeral), NULL },
	{ "system-prompt", 0, true, AT(system_prompt), NULL },
	{ "system-prompt-file", 0, true, AT(system_prompt_file), NULL },
	{ "append-system-prompt", 0, true, AT(append_system_prompt), NULL },
	{ "no-instructions", 0, false, AT(no_instructions), NULL },
	{ "bare", 0, false, AT(bare), NULL },
	{ "price", 0, true, AT(price), NULL },
	{ "unknown-price", 0, true, 0, set_unknown_price },
	{ "fail-on-denied", 0, false, AT(fail_on_denied), NULL },
	{ "verbose-trace", 0, false, AT(verbose_trace), NULL },
	{ "quiet", 'q', false, AT(quiet), NULL },
	{ "help", 'h', false, AT(help), NULL },
	{ NULL, 0, false, 0, NULL },
};

static const struct opt *find(const struct opt *rows, const char *word, const char **ret_value)
{
	for (const struct opt *d = rows; d->name; d++) {
		size_t n = strlen(d->name);

		*ret_value = NULL;
		if (word[1] != '-') {
			if (d->letter && word[1] == d->letter && word[2] == '\0')
				return d;
			continue;
		}
		if (strncmp(word + 2, d->name, n) != 0 || (word[2 + n] != '\0' && word[2 + n] != '='))
			continue;
		if (word[2 + n] == '=')
			*ret_value = word + 3 + n;
		return d;
	}
	return NULL;
}

static int set(struct run_opts *o, const struct opt *d, const char *value, struct ak_err *err)
{
	if (d->set)
		return d->set(o, d, value, err);
	if (d->has_value)
		*(const char **)field(o, d) = value;
	else
		*(bool *)field(o, d) = true;
	return 0;
}

static int take_prompt(struct run_opts *o, const char *word, struct ak_err *err)
{
	if (o->prompt) {
		(void)ak_err_set(err, EINVAL, "run: one PROMPT is taken, and \"%.60s\" is one too many", word);
		ak_err_hint(err, "put the prompt in quotes");
		return -EINVAL;
	}
	o->prompt = word;
	return 0;
}

static int take_option(struct run_opts *o, int argc, char *argv[], int *i, struct ak_err *err)
{
	const char *value = NULL;
	const char *word = argv[*i];
	const struct opt *d = find(table, word, &value);

	if (!d) {
		(void)ak_err_set(err, EINVAL, "run: %.60s is not available in this version", word);
		return -EINVAL;
	}
	if (!d->has_value && value)
		return ak_err_set(err, EINVAL, "run: --%s takes no value", d->name);
	if (d->has_value && !value) {
		if (*i + 1 >= argc)
			return ak_err_set(err, EINVAL, "run: --%s: a value is missing", d->name);
		value = argv[++*i];
	}
	return set(o, d, value, err);
}

/* What excludes each other */
static int check(const struct run_opts *o, struct ak_err *err)
{
	if (o->resume && o->go_on)
		return ak_err_set(err, EINVAL, "run: --resume and --continue exclude each other");
	if (o->ephemeral && (o->resume || o->go_on))
		return ak_err_set(err, EINVAL, "run: --ephemeral stores nothing, so there is nothing to go on with");
	if (o->system_prompt && o->system_prompt_file)
		return ak_err_set(err, EINVAL, "run: --system-prompt and --system-prompt-file exclude each other");
	if ((o->resume || o->go_on) && (o->system_prompt || o->system_prompt_file || o->append_system_prompt))
		return ak_err_set(err, EINVAL, "run: a session that goes on keeps its system prompt");
	if (o->replay && o->api && strcmp(o->api, "replay") != 0)
		return ak_err_set(err, EINVAL, "run: --replay is for --api replay");
	if (o->tool_timeout_given && o->tool_timeout_ms > o->max_tool_timeout_ms)
		return ak_err_set(err, EINVAL, "run: --tool-timeout is over --max-tool-timeout");
	return 0;
}

void run_opts_init(struct run_opts *o)
{
	*o = (struct run_opts){ .tool_timeout_ms = RUN_TOOL_TIMEOUT_S * 1000u,
				.max_tool_timeout_ms = RUN_MAX_TOOL_TIMEOUT_S * 1000u };
	budget_limits_init(&o->limits);
}

int run_opts_settings(char *const v[], size_t n, struct run_opts *o, struct ak_err *err)
{
	int rc = 0;

	for (size_t i = 0; i + 1 < n && rc == 0; i += 2) {
		const char *value = NULL;
		const struct opt *d = find(of_files, v[i + 1], &value);

		d = d ? d : find(table, v[i + 1], &value);

		o->said = v[i];
		if (!d || d->has_value != (value != NULL))
			rc = ak_err_set(err, EINVAL, "%.300s: ak-agent does not know it: do ak and ak-agent belong to the same version?", v[i]);
		else
			rc = set(o, d, value, err);
	}
	if (rc == 0 && o->system_prompt && o->system_prompt_file)
		rc = ak_err_set(err, EINVAL, "%.300s: system_prompt and system_prompt_file exclude each other", o->said);
	o->said = NULL;
	return rc;
}

/* What settings say of the prompt is for new sessions, and a prompt on the command line replaces it */
struct prompts {
	const char *text, *file, *append;
};

static struct prompts take_prompts(struct run_opts *o)
{
	struct prompts p = { o->system_prompt, o->system_prompt_file, o->append_system_prompt };

	o->system_prompt = o->system_prompt_file = o->append_system_prompt = NULL;
	return p;
}

static void give_prompts(struct run_opts *o, const struct prompts *p)
{
	if (o->resume || o->go_on)
		return;
	if (!o->system_prompt && !o->system_prompt_file) {
		o->system_prompt = p->text;
		o->system_prompt_file = p->file;
	}
	if (!o->append_system_prompt)
		o->append_system_prompt = p->append;
}

int run_opts_parse(int argc, char *argv[], struct run_opts *o, struct ak_err *err)
{
	struct prompts settings = take_prompts(o);
	bool words = false;
	int first = 0;

	for (int i = 0; i < argc; i++) {
		int rc = 0;

		if (!words && strcmp(argv[i], "--") == 0)
			words = true;
		else if (words || argv[i][0] != '-' || argv[i][1] == '\0')
			rc = take_prompt(o, argv[i], first ? NULL : err);
		else
			rc = take_option(o, argc, argv, &i, first ? NULL : err);
		if (rc < 0 && first == 0)
			first = rc;
	}
	if (first == 0)
		first = check(o, err);
	give_prompts(o, &settings);
	/* a default is no wish: it follows a lower ceiling */
	if (!o->tool_timeout_given && o->tool_timeout_ms > o->max_tool_timeout_ms)
		o->tool_timeout_ms = o->max_tool_timeout_ms;
	return first;
}

const char *run_opts_help(void)
{
	return "usage: ak run [OPTIONS] [PROMPT | -]\n"
	       "Run an agent on a task: a model that works through tools in a sandbox. Without PROMPT, or with -, it is read from stdin.\n"
	       "\n"
	       "  -m, --model [PROVIDER/]MODEL  which model; `ak models` lists the providers\n"
	       "      --api anthropic|chat|responses|replay  wire format (default: the provider's)\n"
	       "      --base-url URL         another server; --plain-http allows http:// beyond loopback, --ca-file FILE its certificates\n"
	       "      --replay FILE          with --api replay: a scripted conversation, offline\n"
	       "      --effort LEVEL         how much the model thinks, where it knows the word\n"
	       "      --max-response-tokens N  tokens of one reply\n"
	       "      --context N            tokens of the model's window (default: the price file's, else 32768); before it is full, old\n"
	       "                             turns are summarised\n"
	       "\n"
	       "  -C, --workspace DIR        the workspace (default: .)\n"
	       "      --write cow|direct|none  cow: the agent works on a copy, and its changes are taken over at the end (default)\n"
	       "      --apply always|ask|never  when they are: if the run succeeded (default), if you say so (default on a terminal), never\n"
	       "      --rootfs --ro --rw --tmpfs --hide --env --env-file --net --memory --cpus --pids --cpu-time --disk --nofile\n"
	       "      --fsize --seccomp --identity --allow-protected --config --profile  as for `ak exec`, by these names only\n"
	       "\n"
	       "      --approval ask|auto|deny-mutations|smart, -y (auto)  who lets a call run that changes something\n"
	       "      --plan                 nothing that changes something runs before a plan was approved\n"
	       "      --allow RULE, --deny RULE  TOOL or TOOL(GLOB), repeatable; deny wins\n"
	       "      --fail-on-denied       exit 18 when a call was denied\n"
	       "\n"
	       "      --max-cost USD, --max-input-tokens N, --max-output-tokens N, --max-turns N (25), --max-tool-calls N\n"
	       "      --timeout DUR          of the whole run\n"
	       "      --tool-timeout DUR (60s), --max-tool-timeout DUR (600s)  of one tool call\n"
	       "      --price in=..,out=..   dollars per million tokens; --unknown-price refuse|allow\n"
	       "\n"
	       "  -o, --output text|json|stream-json, --json  the final message, one result object, one object a line\n"
	       "      --output-last-message FILE  the final message in a file, too\n"
	       "      --output-schema FILE   the final message is JSON that matches this schema\n"
	       "      --attach FILE          an image for the model: PNG, JPEG, GIF or WebP; repeatable\n"
	       "      --resume ID, --continue  go on with a session, with this workspace's last one, and with the\n"
	       "                             model it used last, where none is named\n"
	       "      --ephemeral            store nothing\n"
	       "      --system-prompt TEXT, --system-prompt-file FILE, --append-system-prompt TEXT  in place of ours, behind ours\n"
	       "      --no-instructions      leave AGENTS.md out\n"
	       "      --bare                 leave AGENTS.md and the user's config file out\n"
	       "      --verbose-trace        arguments and results in the trace, too\n"
	       "  -q, --quiet                no progress on stderr\n"
	       "  -h, --help                 this text\n"
	       "\n"
	       "Exit code: 0; 1 error, 2 usage, 3 authentication, 4 provider, 5 no sandbox, 10 cost, 11 tokens, 12 turns or tool calls,\n"
	       "13 time, 14 refusal, 15 context exhausted, 16 output truncated, 17 schema mismatch, 18 denied, 19 changes kept, not applied,\n"
	       "129/130/143 interrupted.\n";
}
