/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of what a config file or an AK_* variable can set: type, who may set it, and what "stricter" means for it.
 * Any process, no privilege, allocates nothing.
 */
#ifndef AK_SHARED_AK_CONFIG_KEYS_H
#define AK_SHARED_AK_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AK_CFG_KEYS_MAX 96u

/* Sections of a file: which command a setting is for. A key may be in both */
enum ak_cfg_section {
	AK_CFG_EXEC,	/* ak exec, ak create, ak serve; what shapes a sandbox holds for ak run, too */
	AK_CFG_RUN,	/* ak run */
	AK_CFG_SECTIONS
};

/* Where a value comes from; a later one counts more, within what AK_CFG_POLICY leaves */
enum ak_cfg_layer {
	AK_CFG_DEFAULT,
	AK_CFG_POLICY,		/* /etc/ak/policy.json: what nothing after it may loosen */
	AK_CFG_USER,		/* the user's file, or the one that --config names */
	AK_CFG_PROFILE,		/* of that file, chosen by --profile */
	AK_CFG_WORKSPACE,	/* .ak/config.json of the workspace, which is hostile: may tighten only */
	AK_CFG_VARIABLE,	/* AK_* */
	AK_CFG_FLAG,
	AK_CFG_LAYERS
};

/* What a value looks like. The executor's option reads the text; this says what JSON may stand for it */
enum ak_cfg_kind {
	AK_CFG_BOOL,
	AK_CFG_CHOICE,	/* a word */
	AK_CFG_SIZE,	/* SIZE or max; or a whole number of bytes */
	AK_CFG_COUNT,	/* a whole number or max */
	AK_CFG_CPUS,	/* a number or max */
	AK_CFG_USD,	/* an amount of dollars, up to 12 decimals */
	AK_CFG_DUR,	/* DUR; or a number of seconds */
	AK_CFG_ID,	/* UID[:GID] */
	AK_CFG_TEXT,
	AK_CFG_PATH,	/* one of the words of @order, or a path of the host: absolute, or ~/... */
	/* lists: an array of texts, or one text */
	AK_CFG_NAMES,
	AK_CFG_BINDS,	/* SRC[:DST], with SRC as in AK_CFG_PATH */
	AK_CFG_FILES,	/* paths as in AK_CFG_PATH */
	AK_CFG_PLACES,	/* paths inside: may be relative, which means to the workspace's folder or the current one */
	AK_CFG_ENV,	/* K=V or K; or an object of texts */
	AK_CFG_PROVIDERS	/* an object of objects in a section of its own; here one entry for each text: NAME.FIELD=TEXT */
};

/* When is one value looser than another? */
enum ak_cfg_rule {
	AK_CFG_LOWER,	/* a limit: the higher one; unset and max are the highest */
	AK_CFG_RANK,	/* the later one in @order; with a word that is not in it (a file's name) there is no order: every other one.
			 * "a|b" is one place with two spellings */
	AK_CFG_OFF,	/* true */
	AK_CFG_EQUAL,	/* every other one */
	AK_CFG_MORE,	/* list: never; entries are only added and each takes something away */
	AK_CFG_LESS,	/* list: each entry adds something */
	AK_CFG_FREE	/* never: nothing to be strict about */
};

/* What entries of an AK_CFG_LESS list give to the sandbox, and what a policy that holds the key closes for all others */
enum ak_cfg_gives {
	AK_CFG_SHOW = 1u << 0,		/* a path of the host */
	AK_CFG_WRITE = 1u << 1,		/* writable */
	AK_CFG_DEVICE = 1u << 2,
	AK_CFG_VARS = 1u << 3,
	AK_CFG_UNPROTECT = 1u << 4,
	AK_CFG_RULES = 1u << 5,		/* calls that need no approval */
	AK_CFG_SERVERS = 1u << 6	/* where models are asked, and with which key */
};

struct ak_cfg_key {
	const char *name;	/* as in a file: "cpu_time" */
	const char *full[AK_CFG_SECTIONS];	/* as in messages: "exec.cpu_time", "run.cpu_time"; NULL: not in that section */
	const char *variable;	/* "AK_CPU_TIME"; NULL: none can set it */
	const char *option;	/* "--cpu-time" */
	enum ak_cfg_kind kind;
	unsigned layers;	/* 1 << enum ak_cfg_layer: who may set it; flags always */
	enum ak_cfg_rule rule;
	const char *initial;	/* without any layer; NULL: unset */
	const char *const *order;	/* AK_CFG_RANK: strict first; NULL-terminated. "allow=" stands for all words with that start */
	unsigned gives, closes;	/* enum ak_cfg_gives */
};

/** ak_cfg_key() - row @i. Return: NULL behind the last one. */
const struct ak_cfg_key *ak_cfg_key(size_t i);
/** ak_cfg_index() - where in the table @k stands; below AK_CFG_KEYS_MAX */
size_t ak_cfg_index(const struct ak_cfg_key *k);
/** ak_cfg_in() - is it a key of this section? */
bool ak_cfg_in(const struct ak_cfg_key *k, enum ak_cfg_section section);
/** ak_cfg_find() - by section and name; of exec also by the second name of an option ("network"). Return: NULL when unknown. */
const struct ak_cfg_key *ak_cfg_find(enum ak_cfg_section section, const char *name);
/** ak_cfg_by_option() - by "--cpu-time", of exec also by its second name. Return: NULL: not a thing of config files. */
const struct ak_cfg_key *ak_cfg_by_option(enum ak_cfg_section section, const char *option);
/** ak_cfg_may() - may a file or variable of @layer set @k? */
bool ak_cfg_may(const struct ak_cfg_key *k, enum ak_cfg_layer layer);
/** ak_cfg_is_list() - does every value add to those before it? */
bool ak_cfg_is_list(const struct ak_cfg_key *k);

/** ak_cfg_known() - has @value a place in the key's order? true for keys without one */
bool ak_cfg_known(const struct ak_cfg_key *k, const char *value);

/**
 * ak_cfg_looser() - does @value allow more than @than?
 * @value, @than:	as texts; "true" and "false" for AK_CFG_BOOL; NULL: unset
 * A text that is no value of its kind is not looser: whoever reads it refuses it. Not for lists.
 */
bool ak_cfg_looser(const struct ak_cfg_key *k, const char *value, const char *than);

/* What can be said of a provider of models */
enum ak_cfg_provider_field {
	AK_CFG_PROVIDER_BASE_URL,
	AK_CFG_PROVIDER_API,
	AK_CFG_PROVIDER_KEY_FILE,	/* a path of the host as in AK_CFG_PATH */
	AK_CFG_PROVIDER_FIELDS
};

#define AK_CFG_PROVIDER_NAME_MAX 32u	/* bytes */

/** ak_cfg_provider_field_name() - "base_url", "api", "api_key_file" */
const char *ak_cfg_provider_field_name(enum ak_cfg_provider_field f);
/** ak_cfg_provider_name_ok() - 1 to AK_CFG_PROVIDER_NAME_MAX lower case letters, digits and -, a letter first */
bool ak_cfg_provider_name_ok(const char *name);

/**
 * ak_cfg_provider_split() - an entry of AK_CFG_PROVIDERS
 * @ret_name:	the provider's name, copied
 * Return: what stands behind the =, in @text; NULL: no such entry (name, field, or an empty text). Outputs are untouched then.
 */
const char *ak_cfg_provider_split(const char *text, char ret_name[AK_CFG_PROVIDER_NAME_MAX + 1], enum ak_cfg_provider_field *ret);

/**
 * ak_cfg_provider_variable() - the variable of a provider: CORP_GW_API_KEY for corp-gw and "_API_KEY"
 * @name:	a good one; @tail: at most 16 bytes
 */
void ak_cfg_provider_variable(const char *name, const char *tail, char ret[AK_CFG_PROVIDER_NAME_MAX + 17]);

/** ak_cfg_profile_name_ok() - 1 to 64 letters, digits and . _ - that starts with none of . and - */
bool ak_cfg_profile_name_ok(const char *name);

#endif
