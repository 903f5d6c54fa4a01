/* SPDX-License-Identifier: Apache-2.0 */
/* What the docker CLI says, read: its complaints, and the lines of our own scripts. Pure. Process: executor. Privilege: none. */
#ifndef AK_DOCKER_TEXT_H
#define AK_DOCKER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct ak_err;

/* What a complaint is about */
enum docker_why {
	DOCKER_WHY_OTHER,
	DOCKER_WHY_DAEMON,	/* it does not run */
	DOCKER_WHY_SOCKET,	/* the caller may not use it */
	DOCKER_WHY_IMAGE,	/* no such image, or it cannot be fetched */
	DOCKER_WHY_NETWORK,	/* no such network */
	DOCKER_WHY_MOUNT,	/* the daemon does not see a folder */
	DOCKER_WHY_NO_SLEEP,	/* the image has no `sleep` */
	DOCKER_WHY_NO_PROGRAM,	/* another program was not found in the image */
	DOCKER_WHY_GONE,	/* the container is not there (any more) */
	DOCKER_WHY_MAX,
};

/**
 * docker_complaint() - the line of @text that says what is wrong, and what kind of thing that is
 * @text:	standard error of a docker command that failed
 * @ret:	at least @size bytes: the line without its "docker: " or "Error: ", cleaned for a terminal; "" when there is none
 * Progress of a fetched image, notices and "see --help" lines are skipped.
 */
enum docker_why docker_complaint(const char *text, char *ret, unsigned size);

/**
 * docker_start_failed() - what to say when no container could be started
 * @code:	exit code of `docker run`; @timed_out: it was killed after DOCKER_START_S
 * @err:	"could not start container: ..." and advice
 * Return: the kind.
 */
enum docker_why docker_start_failed(int code, bool timed_out, const char *text, const char *image, struct ak_err *err);

/* What the container is confined by, as the script in it sees it */
struct docker_facts {
	bool has_timeout;
	bool has_memory, has_pids, has_cpu, has_seccomp, has_nnp, has_caps;
	uint64_t memory_bytes;		/* UINT64_MAX: no limit */
	uint64_t pids;			/* the same */
	uint64_t cpu_milli;		/* the same */
	unsigned seccomp;		/* Seccomp: of /proc/self/status; 2: filtered */
	unsigned nnp;			/* NoNewPrivs: */
	uint64_t caps;			/* CapBnd: */
};

/** docker_facts_script() - script of sh that prints facts with built-in commands only; static */
const char *docker_facts_script(void);

/** docker_facts_read() - lines "name value..." of that script; unknown and malformed ones are skipped */
void docker_facts_read(const char *text, struct docker_facts *ret);

/* --- who made a container --- */

#define DOCKER_OWNER_BYTES 128u

/* value of the label ak.owner: PID-STARTTIME-PIDNS-BOOTID */
struct docker_owner {
	uint64_t pid, start, pidns;
	char boot[40];
};

/** docker_owner_read() - Return: false when @text is no such value */
bool docker_owner_read(const char *text, struct docker_owner *ret);
/** docker_owner_write() - @ret has DOCKER_OWNER_BYTES */
void docker_owner_write(const struct docker_owner *o, char *ret);

/**
 * docker_owner_dead() - has who made the container ended for certain?
 * @start_now:	start time of the process that has its pid now; 0: there is none
 * One of another pid namespace of this boot cannot be judged and counts as alive.
 */
bool docker_owner_dead(const struct docker_owner *o, const struct docker_owner *self, uint64_t start_now);

#endif
