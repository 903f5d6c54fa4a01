/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a run in ak's state folder. Process: warden. Privilege: the caller's. */
#include "executor/docker/docker_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "executor/docker/docker_argv.h"
#include "executor/hostinfo.h"
#include "executor/opts.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_parse.h"

#define STAT_MAX 4096u
#define START_FIELD 20u		/* fields between the name and starttime, proc_pid_stat(5): state is 3, starttime 22 */

uint64_t docker_start_time(uint64_t pid)
{
	char path[64], *text = NULL, *p;
	size_t len;
	uint64_t start = 0;

	(void)snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
	if (ak_read_file(path, STAT_MAX, &text, &len) < 0)
		return 0;
	p = strrchr(text, ')');	/* the name may hold anything */
	if (p && p[1] == ' ' && (p[2] == 'Z' || p[2] == 'X'))
		p = NULL;	/* ended, only not waited for */
	for (unsigned i = 0; p && i < START_FIELD; i++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p + 1, NULL, 10);
	free(text);
	return start;
}

int docker_owner_self(struct docker_owner *ret, struct ak_err *err)
{
	struct docker_owner o = {.pid = (uint64_t)getpid()};
	struct stat st;
	char *text = NULL;
	size_t len;
	int r = ak_read_file("/proc/sys/kernel/random/boot_id", 64, &text, &len);

	if (r < 0 || stat("/proc/self/ns/pid", &st) < 0) {
		free(text);
		return ak_err_sys(err, r < 0 ? -r : errno, "learn who this process is from /proc");
	}
	o.pidns = st.st_ino;
	o.start = docker_start_time(o.pid);
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(o.boot, sizeof(o.boot), "%.39s", text);
	free(text);
	*ret = o;
	return 0;
}

static void remove_box(const char *dir)
{
	char path[PATH_MAX + 8];

	(void)snprintf(path, sizeof(path), "%s/" DOCKER_INIT, dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/" DOCKER_INIT_SOCKET, dir);
	(void)unlink(path);
	(void)rmdir(dir);
}

/* "OWNER.probe", "OWNER.env" and "OWNER.box" of processes that are no more */
static void sweep(const char *dir, const struct docker_owner *self)
{
	struct ak_dir d;
	const char *name;
	unsigned char type;

	if (ak_dir_open(&d, dir) < 0)
		return;
	while (ak_dir_next(&d, &name, &type)) {
		char owner[DOCKER_OWNER_BYTES], path[PATH_MAX];
		size_t n = strcspn(name, ".");
		struct docker_owner o;

		if (n >= sizeof(owner) || (strcmp(name + n, ".probe") != 0 && strcmp(name + n, ".env") != 0 && strcmp(name + n, ".box") != 0))
			continue;
		memcpy(owner, name, n);
		owner[n] = '\0';
		if (!docker_owner_read(owner, &o) || !docker_owner_dead(&o, self, docker_start_time(o.pid)) ||
		    snprintf(path, sizeof(path), "%s/%s", dir, name) >= PATH_MAX)
			continue;
		if (strcmp(name + n, ".box") == 0)
			remove_box(path);
		else
			(void)unlink(path);
	}
	ak_dir_close(&d);
}

static int not_made(const char *path, int code, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "make %s", path);
	ak_no_space(err, AK_STATE_NO_SPACE);
	return -code;
}

static int make_file(const char *path, const char *text, size_t len, struct ak_err *err)
{
	AK_AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : ak_write_all(fd, text, len);

	return r < 0 ? not_made(path, -r, err) : 0;
}

int docker_files_make(const char *state, const struct docker_owner *self, const char *env, size_t env_len, struct docker_files *ret,
		      struct ak_err *err)
{
	char dir[PATH_MAX], owner[DOCKER_OWNER_BYTES], path[PATH_MAX];
	struct stat st;
	int r;

	*ret = (struct docker_files){.dir = ""};
	docker_owner_write(self, owner);
	if (snprintf(dir, sizeof(dir), "%s/docker", state) >= PATH_MAX - (int)DOCKER_OWNER_BYTES - 8)
		return ak_err_set(err, ENAMETOOLONG, "the path of ak's state folder is too long");
	r = hostinfo_make_path(dir);
	if (lstat(dir, &st) < 0)
		return not_made(dir, r < 0 ? -r : errno, err);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0077))
		return ak_err_set(err, EPERM, "%.400s must be a folder of yours with mode 0700", dir);
	memcpy(ret->dir, dir, sizeof(dir));
	sweep(dir, self);
	(void)snprintf(path, sizeof(path), "%.*s/%s.probe", PATH_MAX - 200, dir, owner);
	r = make_file(path, "", 0, err);
	if (r < 0)
		return r;
	memcpy(ret->probe, path, sizeof(path));
	if (!env)
		return 0;
	(void)snprintf(path, sizeof(path), "%.*s/%s.env", PATH_MAX - 200, dir, owner);
	r = make_file(path, env, env_len, err);
	if (r == 0 || r != -EEXIST)
		memcpy(ret->env, path, sizeof(path));
	return r;
}

/* a socket's name may be longer than its address takes, a descriptor's path is not */
static int listen_in(int dir, struct ak_err *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	AK_AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" DOCKER_INIT_SOCKET, dir);
	/* the folder around it is ours alone; in the container whoever the command is may connect */
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 || fchmodat(dir, DOCKER_INIT_SOCKET, 0666, 0) < 0 ||
	    listen(fd, 1) < 0)
		return ak_err_sys(err, errno, "make a socket for the container");
	return ak_fd_take(&fd);
}

int docker_files_box(const struct docker_owner *self, const void *init, size_t len, struct docker_files *f, struct ak_err *err)
{
	char owner[DOCKER_OWNER_BYTES], path[PATH_MAX];
	AK_AUTO_FD dir = -1, fd = -1;
	int r;

	docker_owner_write(self, owner);
	(void)snprintf(path, sizeof(path), "%.*s/%s.box", PATH_MAX - 200, f->dir, owner);
	if (mkdir(path, 0700) < 0)
		return not_made(path, errno, err);
	memcpy(f->box, path, sizeof(path));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchmod(dir, 0755) < 0)
		return ak_err_sys(err, errno, "open %s", path);
	fd = openat(dir, DOCKER_INIT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	r = fd < 0 ? -errno : ak_write_all(fd, init, len);
	if (r == 0 && fchmod(fd, 0555) < 0)
		r = -errno;
	return r < 0 ? not_made(path, -r, err) : listen_in(dir, err);
}

void docker_files_taken(const struct docker_files *f)
{
	char path[PATH_MAX + 8];

	(void)snprintf(path, sizeof(path), "%s/" DOCKER_INIT_SOCKET, f->box);
	(void)unlink(path);
}

static void remove_one(char *path)
{
	if (path[0])
		(void)unlink(path);
	path[0] = '\0';
}

void docker_files_read(struct docker_files *f)
{
	remove_one(f->env);
}

void docker_files_remove(struct docker_files *f)
{
	char oom[PATH_MAX + 8];

	remove_one(f->env);
	remove_one(f->probe);
	if (f->box[0])
		remove_box(f->box);
	f->box[0] = '\0';
	(void)snprintf(oom, sizeof(oom), "%s/oom", f->dir);
	if (f->dir[0])
		(void)unlink(oom);
}

static int check_value(const char *name, const char *value, bool given, struct ak_err *err)
{
	size_t n = strlen(name);

	if (!given && n > 8 && strcmp(name + n - 8, "_API_KEY") == 0) {
		(void)ak_err_set(err, EPERM, "--env %s: keys of providers are never passed through", name);
		ak_err_hint(err, "give a value meant for the sandbox: --env %s=VALUE", name);
		return -EPERM;
	}
	if (strpbrk(value, "\r\n")) {
		(void)ak_err_set(err, EINVAL, "--env %s: docker takes no line breaks in a variable", name);
		ak_err_hint(err, "pass it as a file in the workspace or on standard input");
		return -EINVAL;
	}
	return 0;
}

int docker_env_text(const struct hostinfo *h, const struct env_opt *env, size_t nenv, char **ret, size_t *ret_len,
		    struct ak_err *err)
{
	struct ak_buf b = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < nenv; i++) {
		const char *value = env[i].value ? env[i].value : hostinfo_env(h, env[i].name);

		if (!value)
			continue;
		r = check_value(env[i].name, value, env[i].value != NULL, err);
		ak_buf_printf(&b, "%s=%s\n", env[i].name, value);
	}
	if (r == 0 && b.failed)
		r = ak_err_set(err, ENOMEM, "not enough memory for the environment");
	if (r == 0) {
		*ret = b.len ? strdup(b.data) : NULL;
		*ret_len = b.len;
		if (b.len && !*ret)
			r = ak_err_set(err, ENOMEM, "not enough memory for the environment");
	}
	ak_buf_release(&b);
	return r;
}
