/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the mounts of a plan inside a new mount namespace. Process: set-up child, before any hostile code exists. */
#ifndef AK_NS_MOUNT_H
#define AK_NS_MOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;
struct plan;
struct plan_mount;

#define MOUNT_EXPLODED_MAX 32
#define MOUNT_HELD_MAX 8

enum { OLD_STAYS, OLD_DETACH, OLD_DONE };
enum { PART_NONE, PART_OFFERED, PART_TAKEN, PART_DONE };

/**
 * struct mnt_part - a part of the root that does not depend on the others, for whichever of two threads has time
 */
struct mnt_part {
	atomic_int state;	/* PART_*; a futex */
	int fd;			/* its file system; -1 */
	int result;		/* negative errno */
	const char *what;	/* on failure: where */
};

#define MOUNT_OPTIONS_MAX 96

/**
 * struct mnt_ctx - the root under construction
 *
 * Everything is found relative to @root, by descriptor and without following symbolic links; the process's own root stays
 * the host's until mount_finish(), so that sources are still found by path.
 */
struct mnt_ctx {
	const struct plan *plan;	/* borrowed */
	int root;			/* top of the new root */
	int parent;			/* folder of the row before, for the next one in the same folder; -1 */
	char parent_path[256];
	bool system_done;		/* the rows of the root view are mounted and read-only */
	atomic_int offers;		/* counts parts put on offer, by two; odd: there will be no more. A futex */
	int etc_dir;			/* rows @etc_first ... of the plan, @etc_n of them: the host's part of /etc; -1 */
	size_t etc_first, etc_n;
	atomic_bool etc_offered;
	atomic_size_t etc_next;		/* the first that no thread has taken */
	atomic_int etc_busy;		/* threads that may have one; a futex */
	_Atomic uint64_t etc_left;	/* bits of those that could not be made the short way */
	struct mnt_part proc;		/* covers in the new procfs */
	struct mnt_part dev;		/* what is in the new /dev, which becomes read-only at the end */
	char shm_options[MOUNT_OPTIONS_MAX];
	bool dev_early;			/* @dev is mount_early_dev()'s */
	bool dev_nodes;			/* those of @dev are there already, and what else is in it needs nothing of the host */
	bool left;			/* the host is left, before the last rows: mount_leave_soon() */
	int held[MOUNT_HELD_MAX];	/* sources of the binds among these, in their order; -1: missing, and may be */
	size_t nheld, next_held;
	bool beside;			/* another thread is in mount_parts_beside() */
	atomic_int old;			/* OLD_*: the old root; a futex */
	int detached;			/* what came of OLD_DETACH: negative errno */
	int exploded[MOUNT_EXPLODED_MAX];	/* tmpfs that stand in for read-only folders, made read-only at the end */
	unsigned nexploded;
	uint32_t weaken;		/* AK_WEAK_* of a test build */
	bool keep_uid0;			/* host uid 0 is mapped: file modes of /proc protect nothing */
};

/** mount_init() - before mount_begin(), and before another thread may call mount_parts() */
void mount_init(struct mnt_ctx *c, const struct plan *p, uint32_t weaken);

/**
 * mount_early_root(), mount_early_proc(), mount_early_dev() - mount_begin(), the row of /proc and, but for what is mounted in it, that of
 * /dev, for a root view that no plan is there for yet
 * @root:	what the first one gave
 * @ret:	an O_PATH descriptor, the caller's until mount_take_over()
 * Restricted as prework_do() is. Changes the working directory. Return: 0 or negative errno.
 */
int mount_early_root(int *ret);
int mount_early_proc(int root, int *ret);
int mount_early_dev(int root, int *ret);

/** mount_take_over() - after mount_init(), for a plan with the usual root view: go on with these, which become c's */
void mount_take_over(struct mnt_ctx *c, int root, int proc, int dev);

/**
 * mount_begin() - attach the new, empty root
 * Requires: a mount namespace of our own, capabilities in the user namespace that owns it, ids mapped.
 * Return: 0 or negative errno.
 */
int mount_begin(struct mnt_ctx *c, struct ak_err *err);

/** mount_all() - every row of the plan, in order. Return: 0 or negative errno; the message names the row. */
int mount_all(struct mnt_ctx *c, struct ak_err *err);

/**
 * mount_parts() - build every part that is on offer and that the other thread has not begun
 * Changes the working directory. System calls without errno only, for vthread(). Results are for mount_seal().
 */
void mount_parts(struct mnt_ctx *c);

/**
 * mount_parts_beside() - for the other thread: mount_parts() as often as there is something, until mount_parts_end(); then detaches the
 * old root
 */
void mount_parts_beside(struct mnt_ctx *c);

/** mount_parts_end() - nothing will be on offer any more */
void mount_parts_end(struct mnt_ctx *c);

/** mount_give_up() - the other thread has nothing to wait for any more; after a failure, or it does not end. Safe at any time. */
void mount_give_up(struct mnt_ctx *c);

/**
 * mount_leave_host() - pivot_root, old root detached, working directory "/"
 * Parts still on offer are built first; /dev is waited for, since its nodes are found by the host's paths. The kernel waits a while when
 * a mount is taken away, so where there is another thread that does it, beside what follows: mount_check_alone().
 */
int mount_leave_host(struct mnt_ctx *c, struct ak_err *err);

/**
 * mount_may_leave() - can the host be left before @row and those after it? Detaching its root takes as long as they do.
 * Not with what shows that only the host's paths find, with more binds than are held, or when a name to hide is the user's or below
 * another row. And only where another thread detaches.
 */
bool mount_may_leave(const struct mnt_ctx *c, size_t row);

/**
 * mount_leave_soon() - open what the rows from @row on need of the host, hide what is to be hidden, and leave it
 * Until the old root is gone it lies on the new one, and ".." leads into it from the top: so nothing may be looked up by the new root's own
 * links any more, which only hiding does. Parts other than /dev's nodes may still be on offer.
 */
int mount_leave_soon(struct mnt_ctx *c, size_t row, struct ak_err *err);

/** mount_hide(), mount_bind_source() - one row's; the second: negative errno */
int mount_hide(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err);
int mount_bind_source(struct mnt_ctx *c, const struct plan_mount *m);

/** mount_seal() - our own file systems read-only */
int mount_seal(struct mnt_ctx *c, struct ak_err *err);

/**
 * mount_check_alone() - is the old root gone, and the new one the only one?
 * Requires: no other thread any more. Nothing hostile may run before. Leaves: nothing of the host reachable but what the plan showed.
 */
int mount_check_alone(struct mnt_ctx *c, struct ak_err *err);

/**
 * mount_target() - an O_PATH descriptor for a mount point, made if it is missing
 * @dst:	absolute path inside
 * @dir:	make a directory (else a regular file)
 * @must_exist:	never make anything: -ENOENT
 *
 * A missing name below a read-only mount is made by covering the folder with a tmpfs that shows its entries again
 * (see mount_explode()). Return: descriptor; -ELOOP (a symbolic link on the way), -ENOENT, or what mkdir gives.
 */
int mount_target(struct mnt_ctx *c, const char *dst, bool dir, bool must_exist, struct ak_err *err);

/** mount_open_beneath() - an O_PATH descriptor of @rel ("": @root) beneath @root, no links; -1 and errno */
int mount_open_beneath(int root, const char *rel);

/** mount_tmpfs() - a detached tmpfs. @inodes 0: no limit of inodes asked for. Return: mount descriptor or negative errno. */
int mount_tmpfs(uint64_t size_bytes, uint64_t inodes, unsigned mode, unsigned attrs, struct ak_err *err);

/** mount_cover() - attach an unreadable, read-only, empty file or directory over what @target (O_PATH) names */
int mount_cover(struct mnt_ctx *c, int target, struct ak_err *err);

/** mount_cover_clone() - such a cover, detached. Return: mount descriptor, the caller's, or negative errno. */
int mount_cover_clone(struct mnt_ctx *c, bool dir, struct ak_err *err);

/** MOUNT_MASK_* - names on the root tmpfs that covers are cloned from; removed by mount_finish() */
#define MOUNT_MASK_FILE ".ak-mask-file"
#define MOUNT_MASK_DIR ".ak-mask-dir"
#define MOUNT_SPARE_DIR ".ak-nesting"	/* stays, covered */

/* ---- mount_new.c: on names made just now, see there ---- */

/** mount_make_name() - make a mount point @name in @at. Return: 0, -EEXIST, or another negative errno. */
int mount_make_name(int at, const char *name, bool dir);

/**
 * mount_parent() - the folder @dst goes into, made if missing
 * @ret_name:	the last component of @dst
 * Return: a descriptor that stays c's, or negative errno. It is kept for the next row, since the root view's rows come folder
 * by folder, and has to be forgotten (closed) before anything may cover it.
 */
int mount_parent(struct mnt_ctx *c, const char *dst, const char **ret_name, struct ak_err *err);

/**
 * mount_new_target() - make the mount point of @m, which must be missing
 * Return: its folder, as mount_parent() has it; negative: it was there, or could not be made: take mount_target().
 */
int mount_new_target(struct mnt_ctx *c, const struct plan_mount *m, bool dir, const char **ret_name);

/** mount_new_fs(), _tmpfs(), _bind() - mount(2) on @name, made just now in @parent, which becomes the working directory */
int mount_new_fs(int parent, const char *name, const char *type, unsigned attrs, const char *options);
int mount_new_tmpfs(int parent, const char *name, const struct plan_mount *m, unsigned attrs);
int mount_new_bind(int parent, const char *name, const char *src, unsigned flags);

/** mount_tmpfs_options() - the text mount(2) takes for @m's size, inodes and mode */
void mount_tmpfs_options(char ret[MOUNT_OPTIONS_MAX], const struct plan_mount *m);

/* ---- mount_part.c: either thread, system calls without errno; Return: 0 or negative errno ---- */

int part_bind(const char *src, const char *dst);
int part_mount(const char *type, const char *dst, unsigned flags, const char *options);

/** part_flags() - @attr_set for everything below the mount @fd and for it too, then read-only off again for itself */
int part_flags(int fd, uint64_t attr_set);

/** part_detach_old() - after pivot_root(".", "."): what lies on the new root is taken away. Changes the working directory. */
int part_detach_old(const struct mnt_ctx *c);

/** mount_say_old() - what the other thread is to do about the old root: OLD_* */
void mount_say_old(struct mnt_ctx *c, int old);

/** mount_part_offer() - whoever has time may build it now */
void mount_part_offer(struct mnt_ctx *c, struct mnt_part *p);

/** mount_say_offer() - the other thread is to look what there is */
void mount_say_offer(struct mnt_ctx *c);

/** mount_part_build() - with @fn, now and here; the result is the part's */
void mount_part_build(struct mnt_ctx *c, struct mnt_part *p, int (*fn)(struct mnt_ctx *));

/** mount_part_wait() - until nobody is at work on it */
void mount_part_wait(struct mnt_part *p);

/**
 * mount_etc_rows() - build rows of /etc as long as there are some that no thread has taken; changes the working directory
 * mount_etc_wait() - until the other thread has none in hand any more; afterwards none is taken
 */
void mount_etc_rows(struct mnt_ctx *c);
void mount_etc_wait(struct mnt_ctx *c);

/** mount_proc_covers(), mount_dev_fill() - build the part; the working directory is its file system */
int mount_proc_covers(struct mnt_ctx *c);
int mount_dev_fill(struct mnt_ctx *c);
int mount_dev_nodes(struct mnt_ctx *c);
/** mount_dev_flags() - of mount_early_dev()'s, once the flags of the root view were set */
int mount_dev_flags(struct mnt_ctx *c, struct ak_err *err);

/* parts with a file of their own */
/** mount_etc_offer() - make /etc and put its rows on offer; mount_etc_has() - is @row one of them? */
int mount_etc_offer(struct mnt_ctx *c, struct ak_err *err);
bool mount_etc_has(const struct mnt_ctx *c, size_t row);
int mount_proc(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err);
/** mount_dev() - @soon: the host is left right afterwards */
int mount_dev(struct mnt_ctx *c, const struct plan_mount *m, bool soon, struct ak_err *err);
int mount_devnode(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err);
int mount_overlay_root(struct mnt_ctx *c, struct ak_err *err);

/**
 * mount_cow() - an overlay over the source of @m, whose changes go to the plan's cow_layer
 * Return: a detached mount, the caller's; or negative errno.
 */
int mount_cow(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err);

/** mount_attrs() - the MOUNT_ATTR_* bits every mount of ours carries (nosuid, nodev) plus @extra */
unsigned mount_attrs(const struct mnt_ctx *c, unsigned extra);

/** mount_attach() - move detached mount @fd onto @target; both descriptors stay open and owned by the caller */
int mount_attach(int fd, int target, const char *what, struct ak_err *err);

#endif
