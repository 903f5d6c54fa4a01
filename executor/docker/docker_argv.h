/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines of the docker CLI. Pure: nothing is started and nothing is looked at. Process: executor. Privilege: none.
 *
 * Source: docker-run(1), docker-exec(1) and the same of podman's docker CLI, which take these words alike. Words of ours are
 * given to the program as they are; no shell of the host sees them. What is quoted here is for the `sh` inside the container.
 */
#ifndef AK_DOCKER_ARGV_H
#define AK_DOCKER_ARGV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;

#define DOCKER_IMAGE_DEFAULT "python:3.12-slim"
#define DOCKER_WORKDIR "/workspace"	/* where the workspace is inside */
#define DOCKER_PROBE "/.ak-probe"	/* where a file of the host is shown, as a sign that the daemon sees this host's files */
#define DOCKER_INIT_DIR "/.ak"		/* where a sandbox that stays is shown ak-init and its socket */
#define DOCKER_INIT "init"
#define DOCKER_INIT_SOCKET "ctl"
#define DOCKER_LABEL_OWNER "ak.owner"	/* who made the container: docker_owner.h */
#define DOCKER_LABEL_UID "ak.uid"
#define DOCKER_START_S 120u		/* for a container to start, its image fetched */
#define DOCKER_UNWANTED_S 15u		/* for one that is no longer wanted: then the docker CLI is killed, whatever that leaves */
#define DOCKER_SLACK_S 5u		/* for `docker exec` itself, beyond the command's time */
#define DOCKER_CLOSE_S 30u		/* for a container to be removed */
#define DOCKER_NAME_LEN (12 + 12)	/* "agentkernel-" and 12 hexadecimal digits */
#define DOCKER_TIMEOUT_MAX_S (10u * 366 * 86400)

/* A list of words, NULL-terminated; start it zeroed */
struct docker_words {
	char **v;	/* owned, each too */
	size_t n;
	bool failed;	/* latched: out of memory */
};

void docker_words_release(struct docker_words *w);

struct docker_mount {
	char *src;	/* on the host, absolute */
	char *dst;	/* inside, absolute */
	bool ro;
};

/* One container; strings are borrowed */
struct docker_conf {
	const char *image;
	const char *network;		/* "none", "host", or the name of one of docker's */
	uint64_t memory_bytes;		/* 0: no limit */
	uint64_t cpu_milli;		/* 0: no limit */
	uint64_t pids;			/* 0: no limit */
	const char *host_dir;		/* the workspace on the host; absolute */
	bool read_only;			/* the workspace */
	const char *user;		/* "UID:GID"; NULL: the image's */
	const char *owner;		/* value of DOCKER_LABEL_OWNER; NULL: no labels */
	uint32_t uid;			/* value of DOCKER_LABEL_UID, with @owner */
	const char *probe;		/* file of the host to show at DOCKER_PROBE; NULL: none */
	const struct docker_mount *mounts;	/* further ones, in this order */
	size_t nmounts;
};

/** docker_conf_init() - the defaults: image python:3.12-slim, no network, 512 MiB, one processor, 256 processes */
void docker_conf_init(struct docker_conf *c, const char *host_dir);

/* One command; strings are borrowed */
struct docker_command {
	const char *text;		/* for `sh -c`; NULL: @argv */
	char *const *argv;		/* NULL-terminated */
	const char *workdir;		/* inside, absolute; NULL: DOCKER_WORKDIR */
	const char *env_file;		/* on the host; NULL: none */
	bool stdin_open;
	bool has_timeout;		/* the image has timeout(1) */
	uint64_t timeout_ms;		/* 0: none */
	const char *mark;		/* from docker_marks_make(); NULL: none, as for a command whose output is only read */
};

/** docker_seconds() - @ms as docker's image sees it: whole seconds, rounded up, at least 1 for what is above 0 */
uint64_t docker_seconds(uint64_t ms);

/**
 * docker_run_args() - `docker run` that starts a container which waits
 * Return: words, or failed. The workspace goes by -v, or by --mount where its path holds what -v would take for a separator.
 */
struct docker_words docker_run_args(const struct docker_conf *c, const char *name);

/**
 * docker_direct_args() - `docker run` of a container whose only process is the command, for images that hold nothing else
 * It stays when the command has ended, so that docker can be asked how.
 */
struct docker_words docker_direct_args(const struct docker_conf *c, const struct docker_command *cmd, const char *name);

/** docker_exec_args() - `docker exec` of a command in it; timeout(1) inside keeps the time where the image has it */
struct docker_words docker_exec_args(const struct docker_command *c, const char *name);

/** docker_script_args() - `docker exec` of a script of ours, whose output is read */
struct docker_words docker_script_args(const char *name, const char *script);

/** docker_init_args() - `docker exec` of ak-init, for a sandbox that stays: the one that serves all its commands; workdir and env_file of @c */
struct docker_words docker_init_args(const struct docker_command *c, const char *name);

/** docker_words_of() - "docker" and the given words up to a NULL */
struct docker_words docker_words_of(const char *const words[]);
#define DOCKER_WORDS(...) docker_words_of((const char *const[]){__VA_ARGS__, NULL})

/** docker_quote() - @text as one word of sh. Return: malloc'ed, or NULL. */
char *docker_quote(const char *text);

/**
 * docker_check_image() - may @image be given to docker as the name of an image?
 * @what:	the option or variable that says so, for the message
 * Letters, digits and . _ - / : @, starting with a letter or digit, up to 255: so never an option.
 * Return: 0 or -EINVAL with the rule.
 */
int docker_check_image(const char *what, const char *image, struct ak_err *err);

/** docker_check_network() - the same for a network: letters, digits and . _ -. Return: 0 or -EINVAL. */
int docker_check_network(const char *what, const char *name, struct ak_err *err);

#endif
