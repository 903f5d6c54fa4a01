/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment is built from nothing. Runs as a command in a sandbox; allow=A,B names variables that may
 * be there besides the documented ones.
 */
#include <ctype.h>
#include <sys/auxv.h>
#include "tests/escape/esc.h"

extern char **environ;

static bool known(const char *name, size_t n, const char *more)
{
	static const char *const ok[] = {"PATH",
					 "HOME",
					 "USER",
					 "LOGNAME",
					 "SHELL",
					 "LANG",
					 "LC_ALL",
					 "TERM",
					 "TMPDIR",
					 "PWD",
					 "TZ",
					 "COLORTERM",
					 "NO_COLOR",
					 "HOSTNAME",
					 "container",
					 "AK_SANDBOX",
					 "GIT_TERMINAL_PROMPT",
					 "GIT_AUTHOR_NAME",
					 "GIT_AUTHOR_EMAIL",
					 "GIT_COMMITTER_NAME",
					 "GIT_COMMITTER_EMAIL",
					 "GIT_SSH_COMMAND",
					 "GIT_ASKPASS",
					 "SSH_ASKPASS",
					 "CARGO_HOME",
					 "RUSTUP_HOME",
					 "PYENV_ROOT",
					 "NVM_DIR",
					 "GOPATH",
					 "GOROOT",
					 "VOLTA_HOME",
					 "JAVA_HOME",
					 "SDKMAN_DIR",
					 "XDG_CACHE_HOME",
					 "XDG_CONFIG_HOME",
					 "XDG_DATA_HOME",
					 "XDG_STATE_HOME",
					 "GOCACHE",
					 "NPM_CONFIG_CACHE",
					 "npm_config_cache"};
	const char *p = more;

	for (size_t i = 0; i < sizeof(ok) / sizeof(*ok); i++)
		if (strlen(ok[i]) == n && !strncmp(ok[i], name, n))
			return true;
	while (p && *p) {
		size_t len = strcspn(p, ",");

		if (len == n && !strncmp(p, name, n))
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

static bool secret_name(const char *name, size_t n)
{
	static const char *const parts[] = {"KEY",	 "TOKEN",    "SECRET",	     "PASSW",  "CREDENTIAL",
					    "AUTH_SOCK", "DBUS_",    "DISPLAY",	     "AWS_",   "LD_",
					    "PRELOAD",	 "BASH_ENV", "NODE_OPTIONS", "PYTHON", "GCONV"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (memmem(name, n, parts[i], strlen(parts[i])))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	char extra[1024] = "", secret[1024] = "";
	const char *fn = (const char *)getauxval(AT_EXECFN);

	for (char **v = environ; *v; v++) {
		size_t n = strcspn(*v, "=");

		if (!known(*v, n, esc_arg(&e, "allow")))
			snprintf(extra + strlen(extra), sizeof(extra) - strlen(extra), " %.*s", (int)n, *v);
		if (secret_name(*v, n))
			snprintf(secret + strlen(secret), sizeof(secret) - strlen(secret), " %.*s", (int)n,
				 *v);
	}
	esc_is(&e, "28:golden_list", !extra[0], "others:%s", extra);
	esc_is(&e, "28:no_secret_names", !secret[0], "found:%s", secret);
	esc_need(&e, "28:path_home", getenv("PATH") && getenv("HOME") && getenv("HOME")[0] == '/');
	esc_is(&e, "29:execfn_inside", fn && access(fn, F_OK) == 0, "%s", fn ? fn : "(none)");
	return esc_end(&e);
}
