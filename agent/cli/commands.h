/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of ak-agent, as its table has them; see cli_fn(). Process: agent. Privilege: none. */
#ifndef AK_AGENT_CLI_COMMANDS_H
#define AK_AGENT_CLI_COMMANDS_H

/** cmd_prices() - ak prices list | show MODEL */
int cmd_prices(int argc, char *argv[], char *envp[]);
/** cmd_models() - ak models: what the provider offers */
int cmd_models(int argc, char *argv[], char *envp[]);
/** cmd_models_of() - the same with providers of config files; @argv: N, N texts (pairs as run_opts_settings() has them), then the words */
int cmd_models_of(int argc, char *argv[], char *envp[]);
/** cmd_report() - ak report: what sessions used, from their traces */
int cmd_report(int argc, char *argv[], char *envp[]);
/**
 * cmd_run() - ak run, the agent's half
 * @argv:	what ak has to say ("ok", "usage" or "unavailable", a message, a hint, the host's path of the workspace or ""), then the
 *		words of the command line that are the agent's. The socket to the executor is descriptor 3.
 */
int cmd_run(int argc, char *argv[], char *envp[]);
/** cmd_chat() - ak chat, the agent's half; as cmd_run() */
int cmd_chat(int argc, char *argv[], char *envp[]);
/** cmd_confine_check() - for tests: confine this process as `ak run` does, try what it must not do, say what came of it */
int cmd_confine_check(int argc, char *argv[], char *envp[]);

#endif
