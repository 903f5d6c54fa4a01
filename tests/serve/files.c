/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations of a sandbox that stays, and ways to lead them out of it. serve/files WORKSPACE OUTSIDE [EXEC OPTIONS]: OUTSIDE is
 * a folder of the host that must stay as it is. The workspace has a .git/hooks and a .bashrc, which are protected names.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_clock.h"
#include "tests/serve/say.h"

#define Q(...) ((struct init_req){ __VA_ARGS__ })

static int memory_file(const char *text, size_t n)
{
	int fd = memfd_create("data", MFD_CLOEXEC);

	if (fd < 0 || (n && write(fd, text, n) != (ssize_t)n) || lseek(fd, 0, SEEK_SET) < 0)
		exit(3);
	return fd;
}

/* What an operation gave: its errno by name and a word of its text */
static void gives(struct drv *d, const char *name, struct init_req q, int fd, int err, const char *word)
{
	int r = drv_file(d, q, fd);

	say(r == err && (!word || strstr(d->file_text, word) || strstr(d->file_hint, word)), err ? "BLOCKED" : "ALLOWED", name, "%s want %s: %s (%s)",
	    r < 0 ? "nothing" : strerror(r), strerror(err), d->file_text, d->file_hint);
	if (fd >= 0)
		(void)close(fd);
}

static int put(struct drv *d, const char *path, const char *text, uint32_t flags, uint32_t mode)
{
	int fd = memory_file(text, strlen(text)), r = drv_file(d, Q(.op = INIT_FILE_WRITE, .path = path, .flags = flags, .mode = mode), fd);

	(void)close(fd);
	return r;
}

static bool get(struct drv *d, const char *path, uint64_t offset, uint64_t limit, char *buf, size_t cap)
{
	int fd = memory_file("", 0), r = drv_file(d, Q(.op = INIT_FILE_READ, .path = path, .offset = offset, .limit = limit), fd);
	ssize_t n = pread(fd, buf, cap - 1, 0);

	(void)close(fd);
	buf[n > 0 ? n : 0] = 0;
	return r == 0;
}

static void reading_and_writing(struct drv *d, const char *ws)
{
	char buf[256], path[4096];

	say(put(d, "a.txt", "hello", 0, 0640) == 0 && d->file.flags == INIT_FILED_NEW && d->file.done == 5 && d->file.mode == 0640, "ALLOWED", "write-new",
	    "%s, %o", d->file_text, d->file.mode);
	say(get(d, "a.txt", 0, 0, buf, sizeof(buf)) && strcmp(buf, "hello") == 0 && d->file.size == 5 && d->file.kind == INIT_KIND_FILE, "ALLOWED", "read",
	    "%s %s", buf, d->file_text);
	say(get(d, "a.txt", 1, 2, buf, sizeof(buf)) && strcmp(buf, "el") == 0 && (d->file.flags & INIT_FILED_MORE) && d->file.done == 2, "ALLOWED",
	    "read-part", "%s", buf);
	say(get(d, "a.txt", 100, 0, buf, sizeof(buf)) && buf[0] == 0, "ALLOWED", "read-behind-the-end", "%s", d->file_text);
	say(put(d, "a.txt", "other", 0, 0600) == 0 && d->file.flags == 0 && d->file.mode == 0640, "ALLOWED", "write-keeps-the-mode", "%o", d->file.mode);
	(void)snprintf(path, sizeof(path), "%s/a.txt", ws);
	say(get(d, path, 0, 0, buf, sizeof(buf)) && strcmp(buf, "other") == 0, "ALLOWED", "absolute-path", "%s", d->file_text);
	say(put(d, "x/y/z.txt", "deep", INIT_FILE_PARENTS, 0) == 0 && d->file.mode == 0644, "ALLOWED", "write-with-folders", "%s", d->file_text);
	gives(d, "write-without-folders", Q(.op = INIT_FILE_WRITE, .path = "q/y"), memory_file("", 0), ENOENT, NULL);
	gives(d, "write-new-only", Q(.op = INIT_FILE_WRITE, .path = "a.txt", .flags = INIT_FILE_EXCL), memory_file("", 0), EEXIST, NULL);
	say(put(d, "/tmp/t", "tmp", 0, 0) == 0 && get(d, "/tmp/t", 0, 0, buf, sizeof(buf)) && strcmp(buf, "tmp") == 0, "ALLOWED", "other-writable-place",
	    "%s", d->file_text);
	gives(d, "write-too-much", Q(.op = INIT_FILE_WRITE, .path = "big", .limit = 3), memory_file("four", 4), EFBIG, NULL);
	gives(d, "too-much-left-nothing", Q(.op = INIT_FILE_STAT, .path = "big"), -1, ENOENT, NULL);
	want(drv_sh(d, "cat a.txt x/y/z.txt; ls -A | tr '\\n' ' '; ls -l a.txt | cut -c1-10"), "commands-see-it", 0, NULL);
	say(put(d, "a//./b/../a.txt", "n", 0, 0) == ENOENT && put(d, "x//./y/../y/z.txt", "n", 0, 0) == 0, "ALLOWED", "path-forms", "%s", d->file_text);
}

static void names(struct drv *d)
{
	gives(d, "stat", Q(.op = INIT_FILE_STAT, .path = "x"), -1, 0, NULL);
	gives(d, "mkdir", Q(.op = INIT_FILE_MKDIR, .path = "m"), -1, 0, NULL);
	gives(d, "mkdir-again", Q(.op = INIT_FILE_MKDIR, .path = "m"), -1, EEXIST, NULL);
	gives(d, "mkdir-again-with-parents", Q(.op = INIT_FILE_MKDIR, .path = "m", .flags = INIT_FILE_PARENTS), -1, 0, NULL);
	gives(d, "mkdir-parents", Q(.op = INIT_FILE_MKDIR, .path = "m/n/o/p", .flags = INIT_FILE_PARENTS, .mode = 0700), -1, 0, NULL);
	say(d->file.mode == 0700 && d->file.flags == INIT_FILED_NEW, "ALLOWED", "mkdir-mode", "%o", d->file.mode);
	gives(d, "rename", Q(.op = INIT_FILE_RENAME, .path = "m/n", .path2 = "m/k"), -1, 0, NULL);
	gives(d, "rename-not-over", Q(.op = INIT_FILE_RENAME, .path = "a.txt", .path2 = "x/y/z.txt", .flags = INIT_FILE_EXCL), -1, EEXIST, NULL);
	gives(d, "remove-full", Q(.op = INIT_FILE_REMOVE, .path = "m"), -1, ENOTEMPTY, "with all");
	gives(d, "remove-recursive", Q(.op = INIT_FILE_REMOVE, .path = "m", .flags = INIT_FILE_RECURSIVE), -1, 0, NULL);
	say(d->file.done == 4, "ALLOWED", "remove-counts", "%llu", (unsigned long long)d->file.done);
	gives(d, "remove-missing", Q(.op = INIT_FILE_REMOVE, .path = "m"), -1, ENOENT, NULL);
	gives(d, "remove-the-root", Q(.op = INIT_FILE_REMOVE, .path = "/tmp", .flags = INIT_FILE_RECURSIVE), -1, EBUSY, NULL);
	gives(d, "remove-dot", Q(.op = INIT_FILE_REMOVE, .path = "x/."), -1, EINVAL, NULL);
	gives(d, "read-a-folder", Q(.op = INIT_FILE_READ, .path = "x"), memory_file("", 0), EISDIR, "list");
	gives(d, "list-a-file", Q(.op = INIT_FILE_LIST, .path = "a.txt"), memory_file("", 0), ENOTDIR, NULL);
}

/* Reads the records of LIST or WALK. Return: how many, -1 if one is malformed; @seen: whether @name is one of @kind */
static int entries(struct drv *d, uint32_t op, const char *path, uint64_t limit, const char *name, uint32_t kind, bool *ret_seen)
{
	static char buf[8u << 20];
	int fd = memory_file("", 0), r = drv_file(d, Q(.op = op, .path = path, .limit = limit), fd), n = 0;
	ssize_t len = pread(fd, buf, sizeof(buf), 0);
	struct init_entry e;
	size_t pos = 0;

	(void)close(fd);
	*ret_seen = false;
	while (r == 0 && (r = init_entry_next(buf, (size_t)len, &pos, &e)) == 1) {
		*ret_seen |= strcmp(e.name, name) == 0 && e.kind == kind;
		n++;
		r = 0;
	}
	return r != 0 && r != 1 ? -1 : n;
}

static void folders(struct drv *d)
{
	bool seen;
	int n;

	want(drv_sh(d, "mkdir -p l/s/t; echo 1 >l/s/t/f; ln -s ../../a.txt l/link; mkfifo l/fifo; touch 'l/a\nb'; ln -s .. l/s/up"), "tree-made", 0, "");
	n = entries(d, INIT_FILE_LIST, "l", 0, "fifo", INIT_KIND_OTHER, &seen);
	say(n == 4 && seen && d->file.done == 4 && d->file.flags == 0, "ALLOWED", "list", "%d", n);
	n = entries(d, INIT_FILE_LIST, "l", 0, "a\nb", INIT_KIND_FILE, &seen);
	say(n == 4 && seen, "ALLOWED", "list-any-name", "%d", n);
	n = entries(d, INIT_FILE_WALK, "l", 0, "s/t/f", INIT_KIND_FILE, &seen);
	say(n == 7 && seen && d->file.flags == 0, "ALLOWED", "walk", "%d", n);
	n = entries(d, INIT_FILE_WALK, "l", 0, "s/up", INIT_KIND_LINK, &seen);
	say(n == 7 && seen, "ALLOWED", "walk-follows-no-link", "%d", n);
	n = entries(d, INIT_FILE_WALK, "l", 3, "", 0, &seen);
	say(n == 3 && d->file.flags == INIT_FILED_MORE, "ALLOWED", "walk-limit", "%d, %x", n, d->file.flags);
	n = entries(d, INIT_FILE_LIST, ".", 0, "l", INIT_KIND_DIR, &seen);
	say(n > 2 && seen, "ALLOWED", "list-the-workspace", "%d", n);
	want(drv_sh(d, "p=l; for i in 1 2 3 4 5 6 7 8; do p=$p/1/2/3/4/5/6/7/8/9/0; done; mkdir -p $p"), "deep-tree-made", 0, "");
	n = entries(d, INIT_FILE_WALK, "l", 0, "1/2/3", INIT_KIND_DIR, &seen);
	say(n > 60 && n < 80 && seen && (d->file.flags & INIT_FILED_MORE), "ALLOWED", "walk-depth", "%d, %x", n, d->file.flags);
	gives(d, "remove-too-deep", Q(.op = INIT_FILE_REMOVE, .path = "l", .flags = INIT_FILE_RECURSIVE), -1, ELOOP, NULL);
	want(drv_sh(d, "rm -rf l"), "deep-tree-removed", 0, "");
	want(drv_sh(d, "mkdir many; cd many; i=0; while [ $i -lt 3000 ]; do : >file-$i; i=$((i+1)); done"), "many-files-made", 0, "");
	n = entries(d, INIT_FILE_LIST, "many", 0, "file-2999", INIT_KIND_FILE, &seen);
	say(n == 3000 && seen, "ALLOWED", "list-many", "%d", n);
	gives(d, "remove-many", Q(.op = INIT_FILE_REMOVE, .path = "many", .flags = INIT_FILE_RECURSIVE), -1, 0, NULL);
	say(d->file.done == 3001, "ALLOWED", "remove-many-counts", "%llu", (unsigned long long)d->file.done);
}

/* Ways out: links at each place of a path, in each operation */
static void ways_out(struct drv *d, const char *outside)
{
	static const uint32_t ops[] = { INIT_FILE_READ, INIT_FILE_WRITE, INIT_FILE_LIST, INIT_FILE_STAT, INIT_FILE_MKDIR, INIT_FILE_REMOVE, INIT_FILE_WALK };
	static const char *const paths[] = { "../escape", "x/../../escape", "out/f", "rel/f", "out", "rel", "self/root/f", "self/cwd/a.txt", "fdlink/f",
					     "/etc/passwd", "/usr/bin/env", "/proc/self/root", "/proc/1/environ", "/", "/tmp/../etc/passwd", "abs",
					     "self/environ", "/proc/self/fd/3", "dangling/f" };
	char make[9000], name[128];
	int bad = 0, tried = 0;

	(void)snprintf(make, sizeof(make),
		       "ln -s %s out; ln -s ../../../../../../../../../../..%s rel; ln -s /proc/self self; ln -s /proc/self/fd fdlink; ln -s /usr/bin abs; "
		       "ln -s %s/not-there dangling",
		       outside, outside, outside);
	want(drv_sh(d, make), "links-made", 0, "");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++) {
			struct init_req q = Q(.op = ops[k], .path = paths[i], .flags = ops[k] == INIT_FILE_WRITE ? INIT_FILE_PARENTS : 0);
			bool link_itself = ops[k] == INIT_FILE_REMOVE && !strchr(paths[i], '/');
			bool has_data = ops[k] == INIT_FILE_READ || ops[k] == INIT_FILE_WRITE || ops[k] == INIT_FILE_LIST || ops[k] == INIT_FILE_WALK;
			int fd = has_data ? memory_file("gotcha", 6) : -1, r;

			if (link_itself)
				continue;
			r = drv_file(d, q, fd);
			tried++;
			if (r == 0) {
				bad++;
				(void)fprintf(stderr, "open: op %u %s\n", ops[k], paths[i]);
			}
			if (fd >= 0)
				(void)close(fd);
		}
		(void)snprintf(name, sizeof(name), "way-out-rename-%zu", i);
		if (strchr(paths[i], '/'))
			say(drv_file(d, Q(.op = INIT_FILE_RENAME, .path = "a.txt", .path2 = paths[i]), -1) != 0, "BLOCKED", name, "%s", paths[i]);
	}
	say(bad == 0 && tried > 100, "BLOCKED", "ways-out", "%d of %d", bad, tried);
	gives(d, "way-out-says-why", Q(.op = INIT_FILE_READ, .path = "out/f"), memory_file("", 0), EXDEV, "leads out");
	gives(d, "not-served-says-why", Q(.op = INIT_FILE_READ, .path = "/etc/passwd"), memory_file("", 0), EACCES, "only the workspace");
	want(drv_sh(d, "cd x && ln -s y in && ln -s y/z.txt in2 && ln -s ../a.txt in3"), "links-inside-made", 0, "");
	gives(d, "link-inside", Q(.op = INIT_FILE_READ, .path = "x/in/z.txt"), memory_file("", 0), 0, NULL);
	gives(d, "write-through-a-link-inside", Q(.op = INIT_FILE_WRITE, .path = "x/in3"), memory_file("linked", 6), 0, NULL);
	want(drv_sh(d, "cat a.txt; test -L x/in3"), "the-link-stays", 0, "linked");
	gives(d, "remove-takes-the-link", Q(.op = INIT_FILE_REMOVE, .path = "out"), -1, 0, NULL);
	gives(d, "remove-recursive-takes-the-link", Q(.op = INIT_FILE_REMOVE, .path = "rel", .flags = INIT_FILE_RECURSIVE), -1, 0, NULL);
	gives(d, "stat-of-the-link", Q(.op = INIT_FILE_STAT, .path = "abs", .flags = INIT_FILE_NOFOLLOW), -1, 0, NULL);
}

static void special(struct drv *d)
{
	const uint64_t from = ak_now_ns();
	char buf[64];

	want(drv_sh(d, "mkfifo fifo; python3 -c 'import socket;socket.socket(1).bind(\"sock\")'; ln -s /dev/zero zero; truncate -s 10G sparse"), "special-made", 0,
	     "");
	gives(d, "read-a-fifo", Q(.op = INIT_FILE_READ, .path = "fifo"), memory_file("", 0), EINVAL, "only regular");
	gives(d, "write-a-fifo", Q(.op = INIT_FILE_WRITE, .path = "fifo"), memory_file("x", 1), EINVAL, "only regular");
	gives(d, "read-a-socket", Q(.op = INIT_FILE_READ, .path = "sock"), memory_file("", 0), EINVAL, "only regular");
	gives(d, "read-a-device-by-link", Q(.op = INIT_FILE_READ, .path = "zero"), memory_file("", 0), EXDEV, NULL);
	gives(d, "read-a-device", Q(.op = INIT_FILE_READ, .path = "/dev/zero"), memory_file("", 0), EACCES, NULL);
	say(get(d, "sparse", 10ull << 30, 0, buf, sizeof(buf)) && get(d, "sparse", 5ull << 30, 10, buf, sizeof(buf)) && d->file.done == 10, "ALLOWED",
	    "read-10-gb-in-parts", "%s", d->file_text);
	say(ak_now_ns() - from < 30000000000u, "ALLOWED", "special-files-hold-nobody-up", "%llu ms", (unsigned long long)(ak_now_ns() - from) / 1000000);
	want(drv_sh(d, "rm -f fifo sock zero sparse; chmod 444 a.txt"), "special-removed", 0, "");
	gives(d, "write-what-is-read-only", Q(.op = INIT_FILE_WRITE, .path = "a.txt"), memory_file("x", 1), EACCES, NULL);
	want(drv_sh(d, "chmod 4755 a.txt || chmod 755 a.txt"), "set-id-tried", 0, NULL);
	say(put(d, "a.txt", "y", 0, 0) == 0 && d->file.mode == 0755, "BLOCKED", "write-gives-no-set-id", "%o", d->file.mode);
}

/* Protected names are mounts of the sandbox, and these operations meet the same mounts */
static void protected_names(struct drv *d)
{
	gives(d, "protected-write", Q(.op = INIT_FILE_WRITE, .path = ".bashrc"), memory_file("x", 1), EROFS, NULL);
	gives(d, "protected-hook", Q(.op = INIT_FILE_WRITE, .path = ".git/hooks/pre-commit"), memory_file("x", 1), EROFS, NULL);
	gives(d, "protected-remove", Q(.op = INIT_FILE_REMOVE, .path = ".git", .flags = INIT_FILE_RECURSIVE), -1, EBUSY, "protected");
	gives(d, "protected-rename", Q(.op = INIT_FILE_RENAME, .path = ".git", .path2 = "git2"), -1, EBUSY, NULL);
	gives(d, "protected-rename-over", Q(.op = INIT_FILE_RENAME, .path = "a.txt", .path2 = ".bashrc"), -1, EBUSY, NULL);
	gives(d, "git-itself-writable", Q(.op = INIT_FILE_WRITE, .path = ".git/config"), memory_file("x", 1), 0, NULL);
}

static void no_space(struct drv *d)
{
	static char big[2u << 20];

	gives(d, "full-before", Q(.op = INIT_FILE_WRITE, .path = "/small/f"), memory_file("old", 3), 0, NULL);
	gives(d, "full", Q(.op = INIT_FILE_WRITE, .path = "/small/f"), memory_file(big, sizeof(big)), ENOSPC, NULL);
	want(drv_sh(d, "cat /small/f; ls -A /small"), "full-leaves-the-old-and-nothing-else", 0, "oldf\n");
}

/* Nobody reads the pipe: that operation waits, all else goes on; so many and no more; KILL ends one */
static void blocked(struct drv *d)
{
	int pipes[AK_INIT_FILES_MAX][2];
	uint32_t ids[AK_INIT_FILES_MAX];
	static char big[200000];
	bool good = true;

	if (put(d, "big", "x", 0, 0) == 0) {
		int fd = memory_file(big, sizeof(big));

		good = drv_file(d, Q(.op = INIT_FILE_WRITE, .path = "big"), fd) == 0;
		(void)close(fd);
	}
	for (unsigned i = 0; i < AK_INIT_FILES_MAX; i++) {
		struct init_req q = Q(.type = INIT_REQ_FILE, .id = ids[i] = d->next++, .op = INIT_FILE_READ, .path = "big");

		if (pipe2(pipes[i], O_CLOEXEC) < 0 || drv_send(d, &q, &pipes[i][1], 1) < 0)
			good = false;
		(void)close(pipes[i][1]);
	}
	want(drv_sh(d, "echo fine"), "commands-beside-blocked-files", 0, "fine\n");
	gives(d, "one-file-operation-too-many", Q(.op = INIT_FILE_STAT, .path = "x"), -1, EAGAIN, "too many");
	for (unsigned i = 0; i < AK_INIT_FILES_MAX; i++) {
		d->have_file = false;
		if (i % 2)
			(void)close(pipes[i][0]);
		else
			(void)drv_send(d, &Q(.type = INIT_REQ_KILL, .id = ids[i]), NULL, 0);
		for (int k = 0; k < 600 && !d->have_file; k++)
			(void)drv_pump(d, 50);
		good &= d->have_file && d->file.id == ids[i] && d->file.code == (i % 2 ? EPIPE : EINTR);
		if (i % 2 == 0)
			(void)close(pipes[i][0]);
	}
	say(good, "ALLOWED", "blocked-files-end", "id %u code %u %s", d->file.id, d->file.code, d->file_text);
	gives(d, "then-they-work-again", Q(.op = INIT_FILE_STAT, .path = "x"), -1, 0, NULL);
}

/* A command swaps a folder for a link again and again while files are written below it; AK_RACE_TRIES: how many (300) */
static void race(struct drv *d, const char *outside)
{
	const char *env = getenv("AK_RACE_TRIES");
	long tries = env ? strtol(env, NULL, 10) : 300;
	const uint64_t until = ak_now_ns() + 60000000000u;
	char text[9000];
	struct call *c;
	int ok = 0, refused = 0;

	(void)snprintf(text, sizeof(text),
		       "mkdir -p r/real; ln -sfn real r/p; echo up; command -v perl >/dev/null && exec perl -e 'while (1) { for (@ARGV) "
		       "{ symlink($_, \"r/t\"); rename(\"r/t\", \"r/p\") } }' %s real; "
		       "while :; do ln -sfn %s r/p; ln -sfn real r/p; done 2>/dev/null", outside, outside);
	c = drv_exec(d, &(struct spec){ .argv = (const char *const[]){ "sh", "-c", text, NULL } });
	for (int i = 0; i < 600 && c->len[0] == 0; i++)
		(void)drv_pump(d, 50);
	/* the other one may sleep for a while with the link that leads out */
	for (long i = 0; i < tries || (ok == 0 && ak_now_ns() < until); i++) {
		if (put(d, "r/p/escaped", "escaped", INIT_FILE_PARENTS, 0) == 0)
			ok++;
		else
			refused++;
	}
	(void)drv_send(d, &(struct init_req){ .type = INIT_REQ_KILL, .id = c->id }, NULL, 0);
	(void)drv_wait(d, c, 30000);
	drv_free(c);
	(void)snprintf(text, sizeof(text), "%s/escaped", outside);
	say(ok > 0 && access(text, F_OK) < 0, "BLOCKED", "race-with-links", "written %d, refused %d", ok, refused);
	(void)fprintf(stderr, "race: written %d, refused %d\n", ok, refused);
}

int main(int argc, char *argv[])
{
	static struct drv d;

	if (argc < 3)
		return 2;
	drv_start(&d, argc - 3, argv + 3);
	reading_and_writing(&d, argv[1]);
	names(&d);
	folders(&d);
	ways_out(&d, argv[2]);
	special(&d);
	protected_names(&d);
	no_space(&d);
	blocked(&d);
	race(&d, argv[2]);
	say(d.bad == 0, "ALLOWED", "every-message-was-expected", "%zu were not", d.bad);
	say(drv_stop(&d) >= 0, "ALLOWED", "stopped", "it was not");
	return 0;
}
