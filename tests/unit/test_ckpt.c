/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of keeping a workspace and taking it back, on trees of its own in a temporary folder; and a race: somebody swaps folders for
 * links to outside all the time. AK_RACE_TRIES: operations of the race (1,000,000 by hand).
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/ckpt_compare.h"
#include "executor/workspace/ckpt_restore.h"
#include "executor/workspace/ckpt_scan.h"
#include "executor/workspace/ckpt_store.h"

static char top[64], ws[80], outside[80];
static struct hostinfo host;
static struct ckpt_store store;
static struct ak_err err;
static int root;

static const char *at(const char *path)
{
	static char full[4][512];
	static unsigned turn;
	char *p = full[turn++ % 4];

	(void)snprintf(p, sizeof(full[0]), "%s/%s", ws, path);
	return p;
}

static void put(const char *full, const char *text)
{
	FILE *f = fopen(full, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void is(const char *full, const char *want)
{
	char got[64] = "";
	FILE *f = fopen(full, "r");

	ck_assert_msg(f != NULL, "%s is missing", full);
	(void)!fgets(got, sizeof(got), f);
	(void)fclose(f);
	ck_assert_str_eq(got, want);
}

static void open_store(void)
{
	store = (struct ckpt_store)CKPT_STORE_NONE;
	ck_assert_msg(ckpt_store_open(&host, ws, true, &store, &err) == 0, "%s", err.msg);
}

static void setup(void)
{
	char *env[2] = {NULL, NULL};

	(void)snprintf(top, sizeof(top), "/tmp/ak-ckpt-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(ws, sizeof(ws), "%s/ws", top);
	(void)snprintf(outside, sizeof(outside), "%s/outside", top);
	ck_assert_int_eq(mkdir(ws, 0755) | mkdir(outside, 0755), 0);
	ck_assert_int_ge(asprintf(&env[0], "XDG_STATE_HOME=%s/state", top), 0);
	ck_assert_int_eq(hostinfo_get(env, &host, &err), 0);
	free(env[0]);
	host.environ = NULL;
	root = open(ws, O_RDONLY | O_DIRECTORY);
	open_store();
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)type;
	(void)ftw;
	if (S_ISDIR(st->st_mode))
		(void)chmod(path, 0700);
	return remove(path);
}

static void teardown(void)
{
	ckpt_store_close(&store);
	hostinfo_release(&host);
	(void)close(root);
	(void)nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static struct ckpt_scan scan(void)
{
	struct ckpt_scan s = {.root = root, .store = &store};

	ck_assert_msg(ckpt_scan(&s, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(ckpt_tree_index(&s.tree), 0);
	return s;
}

/* Return: what had to stay */
static size_t restore(const struct ckpt_tree *want)
{
	struct ckpt_scan now = scan();
	struct ckpt_restore r = {.root = root, .store = &store, .now = &now.tree, .want = want, .tmp = ".ak-restore-test"};
	size_t kept;

	ck_assert_msg(ckpt_restore_check(&r, &err) == 0, "%s", err.msg);
	ck_assert_msg(ckpt_restore_run(&r, &err) == 0, "%s", err.msg);
	kept = r.kept;
	ckpt_restore_release(&r);
	ckpt_scan_release(&now);
	return kept;
}

START_TEST(what_has_not_changed_is_not_read_again)
{
	struct ckpt_scan a, b;
	char id[CKPT_ID_MAX + 1];

	put(at("x"), "one");
	put(at("y"), "two");
	ck_assert_int_eq(usleep(50000), 0);	/* longer than a tick: else its time proves nothing */
	a = scan();
	ck_assert_uint_eq(a.read, 2);
	ck_assert_int_eq(ckpt_store_save(&store, &a.tree, id, &err), 0);
	ck_assert_int_eq(rename(at("x"), at("z")), 0);
	b = scan();
	ck_assert_uint_eq(b.read, 1);	/* renaming changes the ctime */
	ck_assert(ckpt_same_bytes(ckpt_tree_find(&a.tree, "y"), ckpt_tree_find(&b.tree, "y")));
	ckpt_scan_release(&a);
	ckpt_scan_release(&b);
}
END_TEST

static void same_trees(const struct ckpt_tree *a, const struct ckpt_tree *b)
{
	ck_assert_uint_eq(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		ck_assert_str_eq(a->e[i].path, b->e[i].path);
		ck_assert_msg(ckpt_op_of(&a->e[i], &b->e[i]) == CKPT_SAME, "%s", a->e[i].path);
		ck_assert_uint_eq(a->e[i].id.ino, b->e[i].id.ino);
	}
}

/* everything of the workspace, with nothing known of it */
static struct ckpt_scan scan_anew(void)
{
	(void)unlinkat(store.dir, "stat", 0);
	return scan();
}

/* Enough of them for threads that look ahead. What is known must not hide what came, went, changed or became something else */
START_TEST(what_is_known_of_folders_hides_nothing)
{
	char id[CKPT_ID_MAX + 1], path[64];
	struct timespec old[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	struct ckpt_scan a, b, c;
	struct stat st;

	for (unsigned d = 0; d < 90; d++) {
		(void)snprintf(path, sizeof(path), "d%u", d);
		ck_assert_int_eq(mkdir(at(path), 0755), 0);
		for (unsigned f = 0; f < 50; f++) {
			(void)snprintf(path, sizeof(path), "d%u/f%u", d, f);
			put(at(path), "as it was");
		}
	}
	ck_assert_int_eq(mkdir(at("d7/below"), 0755), 0);
	put(at("d7/below/x"), "as it was");
	ck_assert_int_eq(usleep(50000), 0);	/* longer than a tick */
	a = scan();
	ck_assert_int_eq(ckpt_store_save(&store, &a.tree, id, &err), 0);
	b = scan();
	ck_assert_uint_eq(b.read, 0);
	same_trees(&a.tree, &b.tree);
	ckpt_scan_release(&b);

	put(at("d80/f3"), "changed");
	ck_assert_int_eq(unlink(at("d81/f4")), 0);
	ck_assert_int_eq(stat(at("d82"), &st), 0);
	put(at("d82/new"), "new");
	old[1] = st.st_mtim;
	ck_assert_int_eq(utimensat(AT_FDCWD, at("d82"), old, 0), 0);	/* a folder's time may be set, its ctime may not */
	ck_assert_int_eq(unlink(at("d83/f5")) | symlink("f6", at("d83/f5")), 0);
	ck_assert_int_eq(chmod(at("d84/f7"), 0600), 0);
	ck_assert_int_eq(rename(at("d7/below"), at("d85/below")), 0);
	ck_assert_int_eq(rename(at("d1"), at("d2/d1")), 0);
	ck_assert_int_eq(rename(at("d3"), at("t")) | rename(at("d4"), at("d3")) | rename(at("t"), at("d4")), 0);
	b = scan();
	ck_assert_uint_le(b.read, 3 + 100);	/* those of the two folders that changed places, whose paths are known */
	c = scan_anew();
	same_trees(&b.tree, &c.tree);
	ckpt_scan_release(&a);
	ckpt_scan_release(&b);
	ckpt_scan_release(&c);
}
END_TEST

START_TEST(a_change_in_the_same_tick_is_seen)
{
	struct ckpt_scan a, b;
	char id[CKPT_ID_MAX + 1];
	struct timespec ts[2] = {{0, 5}, {0, 5}};

	put(at("x"), "one");
	ck_assert_int_eq(utimensat(AT_FDCWD, at("x"), ts, 0), 0);
	a = scan();
	ck_assert_int_eq(ckpt_store_save(&store, &a.tree, id, &err), 0);
	put(at("x"), "two");	/* the same size, and the same mtime */
	ck_assert_int_eq(utimensat(AT_FDCWD, at("x"), ts, 0), 0);
	b = scan();
	ck_assert(!ckpt_same_bytes(ckpt_tree_find(&a.tree, "x"), ckpt_tree_find(&b.tree, "x")));
	ckpt_scan_release(&a);
	ckpt_scan_release(&b);
}
END_TEST

START_TEST(equal_contents_are_kept_once)
{
	struct ckpt_scan s;

	put(at("x"), "same");
	put(at("y"), "same");
	s = scan();
	ck_assert_uint_eq(store.objects.count_new, 1);
	ckpt_scan_release(&s);
}
END_TEST

START_TEST(a_terabyte_of_hole_is_no_work)
{
	struct ckpt_scan s;
	struct stat st;
	int fd = open(at("hole"), O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 1ll << 40) < 0) {
		printf("not tested: sparse files of a terabyte (%s)\n", strerror(errno));
		(void)close(fd);
		return;
	}
	ck_assert_int_eq(pwrite(fd, "middle", 6, 1ll << 39), 6);
	(void)close(fd);
	s = scan();
	ck_assert_int_eq(unlink(at("hole")), 0);
	ck_assert_uint_eq(restore(&s.tree), 0);
	ck_assert_int_eq(stat(at("hole"), &st), 0);
	ck_assert_int_eq(st.st_size, 1ll << 40);
	ck_assert_int_lt(st.st_blocks, 10000);
	fd = open(at("hole"), O_RDONLY);
	ck_assert_int_eq(lseek(fd, 0, SEEK_DATA) <= 1ll << 39, 1);
	ck_assert_int_gt(lseek(fd, 0, SEEK_DATA), 0);
	(void)close(fd);
	ckpt_scan_release(&s);
}
END_TEST

/* other bytes for the contents of three bytes */
static int spoil(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)type;
	(void)ftw;
	if (!S_ISREG(st->st_mode) || st->st_size != 3 || !strstr(path, "/objects/"))
		return 0;
	(void)chmod(path, 0600);
	put(path, "bad");
	return 0;
}

START_TEST(a_damaged_object_stops_a_restore_before_it_begins)
{
	struct ckpt_scan s, now;
	struct ckpt_restore r = {.root = root, .store = &store, .tmp = "t"};
	char state[128];

	put(at("x"), "one");
	put(at("w"), "two");
	s = scan();
	put(at("x"), "changed");
	put(at("w"), "changed");
	(void)snprintf(state, sizeof(state), "%s/state", top);
	ck_assert_int_eq(nftw(state, spoil, 16, FTW_PHYS), 0);
	now = scan();
	r.now = &now.tree;
	r.want = &s.tree;
	ck_assert_int_eq(ckpt_restore_check(&r, &err), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(err.msg, "damaged"));
	ckpt_scan_release(&s);
	ckpt_scan_release(&now);
}
END_TEST

START_TEST(what_came_after_the_look_is_not_lost)
{
	struct ckpt_scan want = scan(), now;
	struct ckpt_restore r = {.root = root, .store = &store, .tmp = ".t"};

	ck_assert_int_eq(mkdir(at("d"), 0755), 0);
	put(at("d/f"), "seen");
	put(at("g"), "seen");
	now = scan();
	put(at("d/late"), "not seen");
	put(at("g"), "changed since");
	r.now = &now.tree;
	r.want = &want.tree;
	ck_assert_int_eq(ckpt_restore_run(&r, &err), 0);
	ck_assert_uint_eq(r.kept, 2);
	is(at("d/late"), "not seen");
	is(at("g"), "changed since");
	ck_assert_int_lt(access(at("d/f"), F_OK), 0);
	ckpt_restore_release(&r);
	ckpt_scan_release(&now);
	ckpt_scan_release(&want);
}
END_TEST

/* one of them stays and gets its old time back, which must not make the others look like something new */
START_TEST(names_joined_since_come_apart_again)
{
	const struct timespec then[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	static const char *const names[] = {"a", "b", "c"};
	struct ckpt_scan want;
	struct stat st;

	for (size_t i = 0; i < 3; i++)
		put(at(names[i]), "equal");
	want = scan();
	for (size_t i = 1; i < 3; i++)
		ck_assert_int_eq(unlink(at(names[i])) | link(at("a"), at(names[i])), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, at("a"), then, 0), 0);
	ck_assert_uint_eq(restore(&want.tree), 0);
	for (size_t i = 0; i < 3; i++) {
		is(at(names[i]), "equal");
		ck_assert_int_eq(stat(at(names[i]), &st), 0);
		ck_assert_uint_eq(st.st_nlink, 1);
		ck_assert_int_ne(st.st_mtim.tv_sec, 1);
	}
	ckpt_scan_release(&want);
}
END_TEST

START_TEST(modes_opened_up_by_a_killed_look_are_put_back)
{
	struct stat st;

	if (geteuid() == 0) {
		printf("not tested as root: files that their owner may not read\n");
		return;
	}
	ck_assert_int_eq(mkdir(at("closed"), 0755), 0);
	put(at("closed/f"), "x");
	ck_assert_int_eq(chmod(at("closed/f"), 0) | chmod(at("closed"), 0), 0);
	for (int round = 0; round < 2; round++) {
		struct ckpt_scan s = scan();

		ck_assert_uint_eq(s.left, 0);
		ck_assert_ptr_nonnull(ckpt_tree_find(&s.tree, "closed/f"));
		ck_assert_int_eq(stat(at("closed"), &st), 0);
		ck_assert_uint_eq(st.st_mode & 07777, 0);
		ckpt_scan_release(&s);
	}
}
END_TEST

START_TEST(a_half_written_checkpoint_is_none)
{
	struct ckpt_scan s = scan();
	char id[CKPT_ID_MAX + 1], path[256];
	struct ckpt_tree t = {0};
	struct ckpt_row *rows = NULL;

	ck_assert_int_eq(ckpt_store_save(&store, &s.tree, id, &err), 0);
	ck_assert_int_eq(ckpt_store_load(&store, id, &t, &err), 0);
	ckpt_tree_release(&t);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", store.dir, id);
	ck_assert_int_eq(truncate(path, 100), 0);
	ck_assert_int_eq(ckpt_store_load(&store, id, &t, &err), -EBADMSG);
	ck_assert_int_eq(ckpt_store_list(&store, &rows, &err), 1);
	ck_assert(rows[0].damaged);
	free(rows);
	ck_assert_int_eq(ckpt_store_load(&store, "k-123456", &t, &err), -ENOENT);
	ck_assert_int_eq(ckpt_store_load(&store, "../stat", &t, &err), -EINVAL);
	ck_assert_int_eq(ckpt_store_load(&store, "stat", &t, &err), -EINVAL);
	/* unfinished files of a crash go with the next command */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/tmp-file", store.dir);
	put(path, "half");
	ckpt_store_close(&store);
	open_store();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/tmp-file", store.dir);
	ck_assert_int_lt(access(path, F_OK), 0);
	ckpt_scan_release(&s);
}
END_TEST

START_TEST(forgetting_frees_what_nobody_has)
{
	struct ckpt_scan a, b;
	char one[CKPT_ID_MAX + 1], two[CKPT_ID_MAX + 1];

	put(at("x"), "first");
	put(at("y"), "both");
	a = scan();
	ck_assert_int_eq(ckpt_store_save(&store, &a.tree, one, &err), 0);
	put(at("x"), "second");
	b = scan();
	ck_assert_int_eq(ckpt_store_save(&store, &b.tree, two, &err), 0);
	ck_assert_int_eq(ckpt_store_sweep(&store, &err), 0);
	ck_assert_int_eq(ckpt_store_remove(&store, one, &err), 0);
	ck_assert_int_eq(ckpt_store_sweep(&store, &err), 1);
	ck_assert_int_eq(unlink(at("x")) | unlink(at("y")), 0);
	ck_assert_uint_eq(restore(&b.tree), 0);
	is(at("x"), "second");
	ck_assert_int_eq(ckpt_store_remove(&store, one, &err), -ENOENT);
	ckpt_scan_release(&a);
	ckpt_scan_release(&b);
}
END_TEST

/* --- the race --- */

static atomic_bool stop;
static atomic_ulong swaps;

static void *swap(void *arg)
{
	(void)arg;
	while (!stop) {
		/* folder and link change places; also one level down */
		(void)renameat2(root, "d", root, "link", RENAME_EXCHANGE);
		(void)renameat2(root, "e/s", root, "e/link", RENAME_EXCHANGE);
		swaps++;
	}
	return NULL;
}

static void race_tree(const char *text)
{
	const char *const folders[] = {"d", "e", "e/s", "d/deep"};

	for (size_t i = 0; i < 4; i++)
		(void)mkdir(at(folders[i]), 0755);
	put(at("d/f"), text);
	put(at("d/deep/f"), text);
	put(at("e/s/f"), text);
	put(at("e/f"), text);
	(void)unlink(at("link"));
	(void)unlink(at("e/link"));
	ck_assert_int_eq(symlink(outside, at("link")) | symlink(outside, at("e/link")), 0);
}

/* the outside has the same names, so that whatever followed a link would find them */
static void outside_tree(void)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/deep", outside);
	ck_assert_int_eq(mkdir(path, 0751), 0);
	(void)snprintf(path, sizeof(path), "%s/f", outside);
	put(path, "SECRET");
	(void)snprintf(path, sizeof(path), "%s/deep/f", outside);
	put(path, "SECRET");
}

static char seen[4096];

static int see(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t n = strlen(seen);

	(void)type;
	(void)ftw;
	(void)snprintf(seen + n, sizeof(seen) - n, "%s %o %lld %lld.%ld %lld.%ld\n", path, st->st_mode, (long long)st->st_size,
		       (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
	return 0;
}

/* names, modes, sizes and times of everything outside */
static char *look_outside(void)
{
	seen[0] = '\0';
	ck_assert_int_eq(nftw(outside, see, 16, FTW_PHYS), 0);
	return strdup(seen);
}

/* one look and one restore while the race goes on. Return: operations tried */
static size_t race_once(const struct ckpt_tree *want, const unsigned char *secret)
{
	struct ckpt_scan now = {.root = root, .store = &store};
	struct ckpt_restore r = {.root = root, .store = &store, .now = &now.tree, .want = want, .tmp = ".ak-restore-test"};
	size_t tried = 0;

	if (ckpt_scan(&now, NULL) == 0 && ckpt_tree_index(&now.tree) == 0) {
		for (size_t i = 0; i < now.tree.n; i++)
			ck_assert_msg(!S_ISREG(now.tree.e[i].id.mode) || memcmp(now.tree.e[i].hash, secret, CKPT_HASH_BYTES) != 0,
				      "bytes of outside were read");
		(void)ckpt_restore_run(&r, NULL);
		tried = now.tree.n + r.written + r.removed + r.adjusted + r.kept;
	}
	ckpt_restore_release(&r);
	ckpt_scan_release(&now);
	return tried;
}

START_TEST(swapped_folders_lead_nobody_out)
{
	const char *env = getenv("AK_RACE_TRIES");
	size_t tries = env ? strtoul(env, NULL, 10) : 3000, done = 0;
	unsigned char secret[CKPT_HASH_BYTES];
	struct ckpt_scan one, two;
	char path[160], *before, *after;
	uint64_t size;
	pthread_t who;
	int fd;

	outside_tree();
	before = look_outside();
	(void)snprintf(path, sizeof(path), "%s/f", outside);
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(ckpt_object_sum(&store.objects, fd, secret, &size), 0);
	(void)close(fd);
	race_tree("one");
	one = scan();
	race_tree("two and more");
	put(at("d/extra"), "x");
	two = scan();
	stop = false;
	ck_assert_int_eq(pthread_create(&who, NULL, swap, NULL), 0);
	for (unsigned i = 0; done < tries; i++)
		done += race_once(i % 2 ? &one.tree : &two.tree, secret);
	stop = true;
	(void)pthread_join(who, NULL);
	after = look_outside();
	ck_assert_str_eq(after, before);	/* nothing new, nothing gone, and no byte written: a ctime would tell */
	free(after);
	free(before);
	ck_assert_uint_gt(swaps, 100);
	if (env)
		printf("race: %zu operations, %lu swaps\n", done, (unsigned long)swaps);
	ckpt_scan_release(&one);
	ckpt_scan_release(&two);
}
END_TEST

/* the same race against a program that opens by path: the test notices */
START_TEST(control_a_path_leads_out)
{
	char path[160], got[16] = "";
	bool out = false;
	pthread_t who;

	outside_tree();
	race_tree("one");
	stop = false;
	ck_assert_int_eq(pthread_create(&who, NULL, swap, NULL), 0);
	for (unsigned i = 0; i < 200000 && !out; i++) {
		int fd = open(at("d/f"), O_WRONLY | O_TRUNC);

		if (fd >= 0)
			(void)!write(fd, "x", 1);
		(void)close(fd);
		(void)snprintf(path, sizeof(path), "%s/f", outside);
		fd = open(path, O_RDONLY);
		got[0] = '\0';
		(void)!read(fd, got, sizeof(got) - 1);
		(void)close(fd);
		out = strncmp(got, "SECRET", 6) != 0;
	}
	stop = true;
	(void)pthread_join(who, NULL);
	ck_assert(out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ckpt");
	TCase *t = tcase_create("ckpt");

	tcase_set_timeout(t, getenv("AK_RACE_TRIES") ? 3000 : 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_has_not_changed_is_not_read_again);
	tcase_add_test(t, what_is_known_of_folders_hides_nothing);
	tcase_add_test(t, a_change_in_the_same_tick_is_seen);
	tcase_add_test(t, equal_contents_are_kept_once);
	tcase_add_test(t, a_terabyte_of_hole_is_no_work);
	tcase_add_test(t, a_damaged_object_stops_a_restore_before_it_begins);
	tcase_add_test(t, what_came_after_the_look_is_not_lost);
	tcase_add_test(t, names_joined_since_come_apart_again);
	tcase_add_test(t, modes_opened_up_by_a_killed_look_are_put_back);
	tcase_add_test(t, a_half_written_checkpoint_is_none);
	tcase_add_test(t, forgetting_frees_what_nobody_has);
	tcase_add_test(t, swapped_folders_lead_nobody_out);
	tcase_add_test(t, control_a_path_leads_out);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
