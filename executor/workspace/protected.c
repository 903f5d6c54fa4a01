/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the names whose content later runs on the host, outside any sandbox. Pure; any process, no
 * privilege. */
#include "executor/workspace/protected.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum how { EXACT, PREFIX, SUFFIX };

/* Who runs or obeys the file is said once for each group */
static const struct {
	const char *name;
	enum how how;
	enum protected_class class;
} table[] = {
	/* git and others: hooks, config with programs in it, attributes that choose filters, submodule addresses */
	{".git", EXACT, PROTECTED_GIT},
	{".gitmodules", EXACT, PROTECTED_BLOCK},
	{".gitattributes", EXACT, PROTECTED_BLOCK},
	{".gitconfig", EXACT, PROTECTED_BLOCK},
	{".husky", EXACT, PROTECTED_BLOCK},
	{".pre-commit-config.yaml", EXACT, PROTECTED_BLOCK},
	{".githooks", EXACT, PROTECTED_BLOCK},
	{".git-hooks", EXACT, PROTECTED_BLOCK},
	{".lefthook", PREFIX, PROTECTED_BLOCK},
	{"lefthook.", PREFIX, PROTECTED_BLOCK},
	{"lefthook-local.", PREFIX, PROTECTED_BLOCK},
	{".overcommit.yml", EXACT, PROTECTED_BLOCK},
	{".simple-git-hooks.", PREFIX, PROTECTED_BLOCK},
	{".lintstagedrc", PREFIX, PROTECTED_BLOCK},
	{"lint-staged.config.", PREFIX, PROTECTED_BLOCK},
	{"hgrc", EXACT, PROTECTED_BLOCK},
	{"hgrc-not-shared", EXACT, PROTECTED_BLOCK},
	{".hgrc", EXACT, PROTECTED_BLOCK},
	{".hgsub", EXACT, PROTECTED_BLOCK},
	/* editors: tasks, launch settings, start-up files */
	{".vscode", EXACT, PROTECTED_BLOCK},
	{".idea", EXACT, PROTECTED_BLOCK},
	{".devcontainer", EXACT, PROTECTED_BLOCK},
	{".devcontainer.json", EXACT, PROTECTED_BLOCK},
	{".exrc", EXACT, PROTECTED_BLOCK},
	{".nvimrc", EXACT, PROTECTED_BLOCK},
	{".nvim.lua", EXACT, PROTECTED_BLOCK},
	{".vimrc", EXACT, PROTECTED_BLOCK},
	{".dir-locals", PREFIX, PROTECTED_BLOCK},
	{".vim", EXACT, PROTECTED_BLOCK},
	{".helix", EXACT, PROTECTED_BLOCK},
	{".zed", EXACT, PROTECTED_BLOCK},
	{".fleet", EXACT, PROTECTED_BLOCK},
	{".theia", EXACT, PROTECTED_BLOCK},
	{".code-workspace", SUFFIX, PROTECTED_BLOCK},
	/* other agents: instructions and servers they start */
	{".mcp.json", EXACT, PROTECTED_BLOCK},
	{".claude", EXACT, PROTECTED_BLOCK},
	{".codex", EXACT, PROTECTED_BLOCK},
	{".agents", EXACT, PROTECTED_BLOCK},
	{".cursor", EXACT, PROTECTED_BLOCK},
	{".cursorrules", EXACT, PROTECTED_BLOCK},
	{".gemini", EXACT, PROTECTED_BLOCK},
	{".windsurf", EXACT, PROTECTED_BLOCK},
	{".windsurfrules", EXACT, PROTECTED_BLOCK},
	{".clinerules", EXACT, PROTECTED_BLOCK},
	{".aider.conf.", PREFIX, PROTECTED_BLOCK},
	{".cline", EXACT, PROTECTED_BLOCK},
	{".roo", EXACT, PROTECTED_BLOCK},
	{".roomodes", EXACT, PROTECTED_BLOCK},
	{".kilocode", EXACT, PROTECTED_BLOCK},
	{".continue", EXACT, PROTECTED_BLOCK},
	{".kiro", EXACT, PROTECTED_BLOCK},
	{".amazonq", EXACT, PROTECTED_BLOCK},
	{".junie", EXACT, PROTECTED_BLOCK},
	{".qwen", EXACT, PROTECTED_BLOCK},
	{".opencode", EXACT, PROTECTED_BLOCK},
	{"opencode.json", PREFIX, PROTECTED_BLOCK},
	{".ak", EXACT, PROTECTED_BLOCK},
	{"AGENTS.md", EXACT, PROTECTED_BLOCK},
	{"AGENTS.override.md", EXACT, PROTECTED_BLOCK},
	{"CLAUDE.md", EXACT, PROTECTED_BLOCK},
	{"CLAUDE.local.md", EXACT, PROTECTED_BLOCK},
	{"GEMINI.md", EXACT, PROTECTED_BLOCK},
	/* CI: runs with the project's secrets */
	{".github", EXACT, PROTECTED_BLOCK},
	{".gitlab-ci.yml", EXACT, PROTECTED_BLOCK},
	{"Jenkinsfile", EXACT, PROTECTED_BLOCK},
	{".circleci", EXACT, PROTECTED_BLOCK},
	{".travis.yml", EXACT, PROTECTED_BLOCK},
	{"azure-pipelines.yml", EXACT, PROTECTED_BLOCK},
	{"bitbucket-pipelines.yml", EXACT, PROTECTED_BLOCK},
	{".drone.yml", EXACT, PROTECTED_BLOCK},
	{".woodpecker", EXACT, PROTECTED_BLOCK},
	{".woodpecker.yml", EXACT, PROTECTED_BLOCK},
	{".buildkite", EXACT, PROTECTED_BLOCK},
	{".gitea", EXACT, PROTECTED_BLOCK},
	{".forgejo", EXACT, PROTECTED_BLOCK},
	{".cirrus.yml", EXACT, PROTECTED_BLOCK},
	{".semaphore", EXACT, PROTECTED_BLOCK},
	{".teamcity", EXACT, PROTECTED_BLOCK},
	{"appveyor.yml", EXACT, PROTECTED_BLOCK},
	{".appveyor.yml", EXACT, PROTECTED_BLOCK},
	/* environment and version managers, which act on entering the folder */
	{".envrc", EXACT, PROTECTED_BLOCK},
	{".env", EXACT, PROTECTED_BLOCK},
	{".tool-versions", EXACT, PROTECTED_BLOCK},
	{"mise.toml", EXACT, PROTECTED_BLOCK},
	{"mise.local.toml", EXACT, PROTECTED_BLOCK},
	{".mise", PREFIX, PROTECTED_BLOCK},
	{".autoenv", PREFIX, PROTECTED_BLOCK},
	{".python-version", EXACT, PROTECTED_BLOCK},
	{"rust-toolchain", PREFIX, PROTECTED_BLOCK},
	/* package managers: registries, hooks, linkers */
	{".npmrc", EXACT, PROTECTED_BLOCK},
	{".yarnrc", PREFIX, PROTECTED_BLOCK},
	{".pnpmfile.cjs", EXACT, PROTECTED_BLOCK},
	{".pnpmfile.mjs", EXACT, PROTECTED_BLOCK},
	{"bunfig.toml", EXACT, PROTECTED_BLOCK},
	{".bundle", EXACT, PROTECTED_BLOCK},
	{".mvn", EXACT, PROTECTED_BLOCK},
	{".bazelrc", EXACT, PROTECTED_BLOCK},
	{".cargo", EXACT, PROTECTED_BLOCK},
	{".pypirc", EXACT, PROTECTED_BLOCK},
	/* start-up files of shells and tools, for a workspace that is a home or is copied to one */
	{".bashrc", EXACT, PROTECTED_BLOCK},
	{".bash_profile", EXACT, PROTECTED_BLOCK},
	{".bash_login", EXACT, PROTECTED_BLOCK},
	{".bash_logout", EXACT, PROTECTED_BLOCK},
	{".bash_aliases", EXACT, PROTECTED_BLOCK},
	{".profile", EXACT, PROTECTED_BLOCK},
	{".zshrc", EXACT, PROTECTED_BLOCK},
	{".zshenv", EXACT, PROTECTED_BLOCK},
	{".zprofile", EXACT, PROTECTED_BLOCK},
	{".zlogin", EXACT, PROTECTED_BLOCK},
	{".kshrc", EXACT, PROTECTED_BLOCK},
	{".cshrc", EXACT, PROTECTED_BLOCK},
	{".tcshrc", EXACT, PROTECTED_BLOCK},
	{".login", EXACT, PROTECTED_BLOCK},
	{".xprofile", EXACT, PROTECTED_BLOCK},
	{".xsessionrc", EXACT, PROTECTED_BLOCK},
	{".ripgreprc", EXACT, PROTECTED_BLOCK},
	{".inputrc", EXACT, PROTECTED_BLOCK},
	{".gdbinit", EXACT, PROTECTED_BLOCK},
	{".lldbinit", EXACT, PROTECTED_BLOCK},
	{".tmux.conf", EXACT, PROTECTED_BLOCK},
	{"config.fish", EXACT, PROTECTED_BLOCK},
	{".ssh", EXACT, PROTECTED_BLOCK},
	/* read by an interpreter from the folder in which it is started */
	{".irbrc", EXACT, PROTECTED_BLOCK},
	{".pryrc", EXACT, PROTECTED_BLOCK},
	{".Rprofile", EXACT, PROTECTED_BLOCK},
	{".Renviron", EXACT, PROTECTED_BLOCK},
	{".octaverc", EXACT, PROTECTED_BLOCK},
	{".ghci", EXACT, PROTECTED_BLOCK},
	{".perldb", EXACT, PROTECTED_BLOCK},
	/* code that a build or an interpreter picks up by its name: part of the work, so only listed */
	{"conftest.py", EXACT, PROTECTED_LIST},
	{"sitecustomize.py", EXACT, PROTECTED_LIST},
	{"usercustomize.py", EXACT, PROTECTED_LIST},
	{"build.rs", EXACT, PROTECTED_LIST},
	{".pth", SUFFIX, PROTECTED_LIST},
	/* run only once installed elsewhere */
	{".desktop", SUFFIX, PROTECTED_LIST},
	{".service", SUFFIX, PROTECTED_LIST},
	{".timer", SUFFIX, PROTECTED_LIST},
	{".socket", SUFFIX, PROTECTED_LIST},
};

/* @name has @len bytes and need not end there */
static bool row_matches(const char *row, enum how how, const char *name, size_t len)
{
	size_t n = strlen(row);

	if (len < n)
		return false;
	if (how == SUFFIX)
		return strncasecmp(name + len - n, row, n) == 0;
	return (how == PREFIX || len == n) && strncasecmp(name, row, n) == 0;
}

static enum protected_class match(const char *name, size_t len)
{
	int first = tolower((unsigned char)name[0]);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		/* asked for every name of a folder: most rows differ in the first letter */
		if (table[i].how != SUFFIX && tolower((unsigned char)table[i].name[0]) != first)
			continue;
		if (row_matches(table[i].name, table[i].how, name, len))
			return table[i].class;
	}
	return PROTECTED_NO;
}

enum protected_class protected_match(const char *name)
{
	return match(name, strlen(name));
}

enum protected_class protected_match_path(const char *path)
{
	enum protected_class best = PROTECTED_NO;

	while (*path) {
		size_t len = strcspn(path, "/");
		enum protected_class class = match(path, len);

		if (class > best)
			best = class;
		path += len + (path[len] == '/');
	}
	return best;
}

bool protected_is_row(const char *name)
{
	return strcasecmp(name, PROTECTED_GIT_HOOKS) == 0 ||
	       (!strchr(name, '/') && protected_match(name) != PROTECTED_NO);
}

bool protected_allowed(char *const *allow, const char *name)
{
	for (; allow && *allow; allow++) {
		if (strcasecmp(*allow, name) == 0)
			return true;
		if (strcasecmp(*allow, ".git") == 0 && strcasecmp(name, PROTECTED_GIT_HOOKS) == 0)
			return true;
	}
	return false;
}
