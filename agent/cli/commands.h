/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of ak-agent, as its table has them; see cli_fn(). Process: agent. Privilege: none. */
#ifndef AK_AGENT_CLI_COMMANDS_H
#define AK_AGENT_CLI_COMMANDS_H

/** cmd_prices() - ak prices list | show MODEL */
int cmd_prices(int argc, char *argv[], char *envp[]);
/** cmd_models() - ak models: what the provider offers */
int cmd_models(int argc, char *argv[], char *envp[]);
/** cmd_report() - ak report: what sessions used, from their traces */
int cmd_report(int argc, char *argv[], char *envp[]);

#endif
