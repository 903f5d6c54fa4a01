/* SPDX-License-Identifier: Apache-2.0 */
/* Builds command lines of the docker CLI. Pure. Process: executor. Privilege: none. */
#include "executor/docker/docker_argv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define NAME_MAX_BYTES 255u
#define MIB (1u << 20)

void docker_words_release(struct docker_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct docker_words){0};
}

/* takes @word */
static void add_taken(struct docker_words *w, char *word)
{
	char **v = word && !w->failed ? reallocarray(w->v, w->n + 2, sizeof(*v)) : NULL;

	if (!v) {
		free(word);
		w->failed = true;
		return;
	}
	w->v = v;
	w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

static void add(struct docker_words *w, const char *word)
{
	add_taken(w, strdup(word));
}

__attribute__((format(printf, 2, 3))) static void addf(struct docker_words *w, const char *fmt, ...)
{
	char *word = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0)
		word = NULL;
	va_end(ap);
	add_taken(w, word);
}

static void add2(struct docker_words *w, const char *option, const char *value)
{
	add(w, option);
	add(w, value);
}

struct docker_words docker_words_of(const char *const words[])
{
	struct docker_words w = {0};

	add(&w, "docker");
	for (; *words; words++)
		add(&w, *words);
	return w;
}

uint64_t docker_seconds(uint64_t ms)
{
	uint64_t s = ms / 1000 + (ms % 1000 != 0);

	return s < DOCKER_TIMEOUT_MAX_S ? s : DOCKER_TIMEOUT_MAX_S;
}

void docker_conf_init(struct docker_conf *c, const char *host_dir)
{
	*c = (struct docker_conf){
		.image = DOCKER_IMAGE_DEFAULT,
		.network = "none",
		.memory_bytes = 512 * (uint64_t)MIB,
		.cpu_milli = 1000,
		.pids = 256,
		.host_dir = host_dir,
	};
}

/* "512m", or bytes where they are no whole MiB */
static void add_memory(struct docker_words *w, const char *option, uint64_t bytes)
{
	add(w, option);
	if (bytes % MIB == 0)
		addf(w, "%" PRIu64 "m", bytes / MIB);
	else
		addf(w, "%" PRIu64 "b", bytes);
}

/* "1.0", "0.5", "0.25" */
static void add_cpus(struct docker_words *w, uint64_t milli)
{
	unsigned places = milli % 100 == 0 ? 1 : milli % 10 == 0 ? 2 : 3;
	unsigned rest = (unsigned)(milli % 1000);

	add(w, "--cpus");
	addf(w, "%" PRIu64 ".%0*u", milli / 1000, (int)places, places == 1 ? rest / 100 : places == 2 ? rest / 10 : rest);
}

static void add_limits(struct docker_words *w, const struct docker_conf *c)
{
	if (c->memory_bytes)
		add_memory(w, "--memory", c->memory_bytes);
	if (c->cpu_milli)
		add_cpus(w, c->cpu_milli);
	if (c->pids) {
		add(w, "--pids-limit");
		addf(w, "%" PRIu64, c->pids);
	}
	add2(w, "--security-opt", "no-new-privileges");
}

/*
 * What the first form of this command line did not say: no capability; no swap beyond the memory; whose container it is;
 * whose ids; SIGKILL as its stop signal, since pid 1 of a container gets no other one that it does not handle, and docker would
 * wait ten seconds; no entry point of the image around what waits.
 */
static void add_more(struct docker_words *w, const struct docker_conf *c)
{
	add2(w, "--cap-drop", "ALL");
	if (c->memory_bytes)
		add_memory(w, "--memory-swap", c->memory_bytes);
	if (c->owner) {
		add(w, "--label");
		addf(w, DOCKER_LABEL_UID "=%" PRIu32, c->uid);
		add(w, "--label");
		addf(w, DOCKER_LABEL_OWNER "=%s", c->owner);
	}
	if (c->user)
		add2(w, "--user", c->user);
	add2(w, "--stop-signal", "KILL");
	add2(w, "--stop-timeout", "0");
	add2(w, "--entrypoint", "");
}

/* One field of a line of comma separated values: quoted, its quotes doubled (RFC 4180, 2.5 to 2.7) */
static void csv_field(struct ak_buf *b, const char *key, const char *value)
{
	ak_buf_printf(b, "\"%s=", key);
	for (const char *p = value; *p; p++)
		ak_buf_add(b, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
	ak_buf_str(b, "\"");
}

static void add_mount(struct docker_words *w, const char *src, const char *dst, bool ro)
{
	struct ak_buf b = {0};

	ak_buf_str(&b, "type=bind,");
	csv_field(&b, "src", src);
	ak_buf_str(&b, ",");
	csv_field(&b, "dst", dst);
	if (ro)
		ak_buf_str(&b, ",readonly");
	add(w, "--mount");
	add_taken(w, b.failed ? NULL : strdup(b.data));
	ak_buf_release(&b);
}

/* -v cuts its value at colons, and podman's also at commas of the options behind them */
static bool plain_path(const char *path)
{
	for (; *path; path++) {
		if (!isalnum((unsigned char)*path) && !strchr("/._-+@% ", *path))
			return false;
	}
	return true;
}

static void add_workspace(struct docker_words *w, const struct docker_conf *c)
{
	if (plain_path(c->host_dir)) {
		add(w, "-v");
		addf(w, "%s:%s%s", c->host_dir, DOCKER_WORKDIR, c->read_only ? ":ro" : "");
	} else {
		add_mount(w, c->host_dir, DOCKER_WORKDIR, c->read_only);
	}
	for (size_t i = 0; i < c->nmounts; i++)
		add_mount(w, c->mounts[i].src, c->mounts[i].dst, c->mounts[i].ro);
	if (c->probe)
		add_mount(w, c->probe, DOCKER_PROBE, true);
}

struct docker_words docker_run_args(const struct docker_conf *c, const char *name)
{
	struct docker_words w = DOCKER_WORDS("run", "-d", "--rm", "--name", name, "--network", c->network);

	add_limits(&w, c);
	add_more(&w, c);
	add_workspace(&w, c);
	add2(&w, "-w", DOCKER_WORKDIR);
	add(&w, c->image);
	add2(&w, "sleep", "infinity");
	return w;
}

struct docker_words docker_direct_args(const struct docker_conf *c, const struct docker_command *cmd, const char *name)
{
	struct docker_words w = DOCKER_WORDS("run", "--name", name, "--network", c->network);

	if (cmd->stdin_open)
		add(&w, "-i");
	add_limits(&w, c);
	add_more(&w, c);
	add_workspace(&w, c);
	add2(&w, "-w", cmd->workdir ? cmd->workdir : DOCKER_WORKDIR);
	add(&w, c->image);
	for (char *const *a = cmd->argv; *a; a++)
		add(&w, *a);
	return w;
}

char *docker_quote(const char *text)
{
	struct ak_buf b = {0};
	const char *p = text;
	char *word;

	while (isalnum((unsigned char)*p) || (*p && strchr("@%+=:,./-_", *p)))
		p++;
	if (*text && !*p)
		return strdup(text);
	ak_buf_str(&b, "'");
	for (p = text; *p; p++) {
		if (*p == '\'')
			ak_buf_str(&b, "'\"'\"'");
		else
			ak_buf_add(&b, p, 1);
	}
	ak_buf_str(&b, "'");
	word = b.failed ? NULL : strdup(b.data);
	ak_buf_release(&b);
	return word;
}

/* is there another folder to go to than the one that every container has? */
static bool enters(const struct docker_command *c)
{
	return c->workdir && strcmp(c->workdir, DOCKER_WORKDIR) != 0;
}

/*
 * The script around the command. Marks tell docker's own output and exit codes from the command's, whose end is known although
 * something it has left holds its streams. What the shell itself would say of a killed command goes nowhere. The working directory
 * is entered here: what docker says of one that is not there may come on standard output, as if it were the command's.
 */
static char *script_of(const struct docker_command *c)
{
	struct ak_buf b = {0};
	char *quoted = docker_quote(c->text ? c->text : ""), *dir = docker_quote(c->workdir ? c->workdir : "");
	char *script;

	if (c->mark)
		ak_buf_str(&b, "trap : HUP INT TERM; exec 3>&2 2>/dev/null; ");
	if (c->mark && enters(c))
		ak_buf_printf(&b, "cd -- %s || { echo chdir to %s: no such folder in the container, or not allowed >&3; exit 126; }; ", dir, dir);
	if (c->mark)
		ak_buf_printf(&b, "printf '\\001%s:s\\n' >&3; (exec 2>&3 3>&-; exec ", c->mark);
	if (c->timeout_ms && c->has_timeout)
		ak_buf_printf(&b, "timeout %" PRIu64 " ", docker_seconds(c->timeout_ms));
	if (c->text)
		ak_buf_printf(&b, "sh -c %s", quoted);
	else
		ak_buf_str(&b, "\"$@\"");
	if (c->mark)
		ak_buf_printf(&b, "); printf '\\001%s:e%%s\\n' \"$?\" >&3", c->mark);
	script = b.failed || !quoted || !dir ? NULL : strdup(b.data);
	free(quoted);
	free(dir);
	ak_buf_release(&b);
	return script;
}

struct docker_words docker_exec_args(const struct docker_command *c, const char *name)
{
	struct docker_words w = DOCKER_WORDS("exec");

	if (c->stdin_open)
		add(&w, "-i");
	if (c->env_file)
		add2(&w, "--env-file", c->env_file);
	add2(&w, "-w", c->workdir && !c->mark ? c->workdir : DOCKER_WORKDIR);
	add(&w, name);
	add2(&w, "sh", "-c");
	add_taken(&w, script_of(c));
	if (!c->text)
		add(&w, "sh");	/* $0 */
	for (char *const *a = c->text ? NULL : c->argv; a && *a; a++)
		add(&w, *a);
	return w;
}

struct docker_words docker_script_args(const char *name, const char *script)
{
	return DOCKER_WORDS("exec", name, "sh", "-c", script);
}

struct docker_words docker_init_args(const struct docker_command *c, const char *name)
{
	struct docker_words w = DOCKER_WORDS("exec");

	if (c->env_file)
		add2(&w, "--env-file", c->env_file);
	add2(&w, "-w", c->workdir ? c->workdir : DOCKER_WORKDIR);
	add(&w, name);
	add(&w, DOCKER_INIT_DIR "/" DOCKER_INIT);
	add2(&w, "connect", DOCKER_INIT_DIR "/" DOCKER_INIT_SOCKET);
	return w;
}

static bool name_ok(const char *name, const char *also)
{
	size_t n = 0;

	if (!isalnum((unsigned char)name[0]))
		return false;
	while (isalnum((unsigned char)name[n]) || (name[n] && strchr(also, name[n])))
		n++;
	return n <= NAME_MAX_BYTES && name[n] == '\0';
}

int docker_check_image(const char *what, const char *image, struct ak_err *err)
{
	if (name_ok(image, "._-/:@"))
		return 0;
	(void)ak_err_set(err, EINVAL, "%s: \"%.80s\" is not the name of an image", what, image);
	ak_err_hint(err, "letters, digits and . _ - / : @, starting with a letter or digit, as in " DOCKER_IMAGE_DEFAULT);
	return -EINVAL;
}

int docker_check_network(const char *what, const char *name, struct ak_err *err)
{
	if (name_ok(name, "._-"))
		return 0;
	(void)ak_err_set(err, EINVAL, "%s: \"%.80s\" is not the name of a network", what, name);
	ak_err_hint(err, "none, host, or the name of one that `docker network ls` shows");
	return -EINVAL;
}
