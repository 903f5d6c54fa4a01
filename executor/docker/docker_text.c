/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the docker CLI says when it fails. Pure. Process: executor. Privilege: none. */
#include "executor/docker/docker_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "executor/docker/docker_argv.h"
#include "executor/shared/ak_err.h"

/* lines that complain of nothing */
static const char *const noise[] = {
	"Emulate Docker CLI using podman",
	"See 'docker",
	"Run 'docker",
	"Usage:",
	"time=",
	"Unable to find image '",	/* and then it is fetched */
	"Getting image source",
	"Copying ",
	"Writing manifest",
	"Storing signatures",
	"Trying to pull",
	"Resolved ",
	"Status: ",
	"Digest: ",
	"WARN",
};

/* in the order in which they are looked for */
static const struct {
	enum docker_why why;
	const char *part;
} parts[] = {
	{DOCKER_WHY_DAEMON, "Cannot connect to the Docker daemon"},
	{DOCKER_WHY_DAEMON, "failed to connect to the docker API"},
	{DOCKER_WHY_DAEMON, "Is the docker daemon running"},
	{DOCKER_WHY_SOCKET, "permission denied while trying to connect"},
	{DOCKER_WHY_NETWORK, "unable to find network"},
	{DOCKER_WHY_NETWORK, "network not found"},
	{DOCKER_WHY_MOUNT, "bind source path does not exist"},
	{DOCKER_WHY_MOUNT, "statfs "},
	{DOCKER_WHY_MOUNT, "invalid mount config"},
	{DOCKER_WHY_MOUNT, "error mounting"},
	{DOCKER_WHY_MOUNT, "invalid volume specification"},
	{DOCKER_WHY_NO_SLEEP, "\"sleep\": executable file not found"},
	{DOCKER_WHY_NO_SLEEP, "exec sleep: no such file"},
	{DOCKER_WHY_NO_SLEEP, "\"sleep\": stat sleep: no such file"},
	{DOCKER_WHY_NO_PROGRAM, "executable file not found"},
	{DOCKER_WHY_NO_PROGRAM, "OCI permission denied"},
	{DOCKER_WHY_NO_PROGRAM, "OCI runtime attempted to invoke a command that was not found"},
	{DOCKER_WHY_GONE, "No such container"},
	{DOCKER_WHY_GONE, "no such container"},
	{DOCKER_WHY_GONE, "is not running"},
	{DOCKER_WHY_GONE, "container state improper"},
	{DOCKER_WHY_IMAGE, "No such image"},
	{DOCKER_WHY_IMAGE, "no such image"},
	{DOCKER_WHY_IMAGE, "pull access denied"},
	{DOCKER_WHY_IMAGE, "did not resolve to an alias"},
	{DOCKER_WHY_IMAGE, "manifest unknown"},
	{DOCKER_WHY_IMAGE, "repository does not exist"},
	{DOCKER_WHY_IMAGE, "initializing source"},
	{DOCKER_WHY_IMAGE, "pinging container registry"},
	{DOCKER_WHY_IMAGE, "failed to resolve reference"},
	{DOCKER_WHY_IMAGE, "invalid reference format"},
	{DOCKER_WHY_IMAGE, "Get \"https://"},
};

static bool starts(const char *line, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && memcmp(line, with, n) == 0;
}

static bool is_noise(const char *line, size_t len)
{
	if (len == 0)
		return true;
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (starts(line, len, noise[i]))
			return true;
	/* "a1b2c3d4e5f6: Pull complete", "latest: Pulling from library/x" */
	return memmem(line, len, ": Pull", 6) || memmem(line, len, ": Download", 10) || memmem(line, len, ": Verifying", 11) ||
	       memmem(line, len, ": Waiting", 9) || memmem(line, len, ": Extracting", 12);
}

static enum docker_why kind_of(const char *line)
{
	/* "network NAME not found" */
	if (strstr(line, "network ") && strstr(line, " not found"))
		return DOCKER_WHY_NETWORK;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(line, parts[i].part))
			return parts[i].why;
	return DOCKER_WHY_OTHER;
}

static const char *skip_prefixes(const char *line)
{
	static const char *const prefixes[] = {"docker: ", "Error: ", "Error response from daemon: ", "ERROR: "};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(line, prefixes[i], n) == 0) {
			line += n;
			i = (size_t)-1;	/* one may stand behind another */
		}
	}
	return line;
}

enum docker_why docker_complaint(const char *text, char *ret, unsigned size)
{
	enum docker_why why = DOCKER_WHY_OTHER;
	char line[512] = "";

	/* the last line that complains, unless an earlier one is of a kind we know */
	while (text && *text) {
		size_t len = strcspn(text, "\n");

		if (!is_noise(text, len) && why == DOCKER_WHY_OTHER) {
			(void)snprintf(line, sizeof(line), "%.*s", len < 500 ? (int)len : 500, text);
			why = kind_of(line);
		}
		text += len + (text[len] == '\n');
	}
	ak_text_clean(line);
	(void)snprintf(ret, size, "%s", skip_prefixes(line));
	return why;
}

static void advise(enum docker_why why, const char *image, struct ak_err *err)
{
	switch (why) {
	case DOCKER_WHY_DAEMON:
		ak_err_hint(err, "start the docker daemon, or leave --backend docker out: ak needs none");
		break;
	case DOCKER_WHY_SOCKET:
		ak_err_hint(err, "you may not use docker's socket, which gives root's rights; leave --backend docker out: ak needs none");
		break;
	case DOCKER_WHY_IMAGE:
		ak_err_hint(err, "fetch it first: docker pull %s", image);
		break;
	case DOCKER_WHY_NETWORK:
		ak_err_hint(err, "`docker network ls` shows the networks");
		break;
	case DOCKER_WHY_MOUNT:
		ak_err_hint(err, "the docker daemon must run on this machine and see the same files");
		break;
	case DOCKER_WHY_NO_SLEEP:
	case DOCKER_WHY_NO_PROGRAM:
	case DOCKER_WHY_GONE:
	case DOCKER_WHY_OTHER:
	case DOCKER_WHY_MAX:
		break;
	}
}

enum docker_why docker_start_failed(int code, bool timed_out, const char *text, const char *image, struct ak_err *err)
{
	static const int codes[DOCKER_WHY_MAX] = {
		[DOCKER_WHY_DAEMON] = ECONNREFUSED, [DOCKER_WHY_SOCKET] = EACCES, [DOCKER_WHY_IMAGE] = ENOENT,
		[DOCKER_WHY_NETWORK] = ENOENT,	    [DOCKER_WHY_MOUNT] = ENOENT,  [DOCKER_WHY_NO_SLEEP] = ENOEXEC,
	};
	char line[400];
	enum docker_why why = docker_complaint(text, line, sizeof(line));

	if (timed_out) {
		(void)ak_err_set(err, ETIMEDOUT, "could not start container: not done after %u s", DOCKER_START_S);
		ak_err_hint(err, "if the image had to be fetched: docker pull %s", image);
		return DOCKER_WHY_OTHER;
	}
	if (line[0])
		(void)ak_err_set(err, codes[why] ? codes[why] : EIO, "could not start container: %s", line);
	else
		(void)ak_err_set(err, EIO, "could not start container: docker ended with %d and said nothing", code);
	advise(why, image, err);
	return why;
}
