/* SPDX-License-Identifier: Apache-2.0 */
/* `ak serve`: an executor for the one client on its standard input. Process: executor. Privilege: the caller's. */
#ifndef AK_CMD_SERVE_H
#define AK_CMD_SERVE_H

/**
 * cmd_serve() - `ak serve [exec's options]`
 * @argv:	what follows "serve"
 * Standard input must be a connected SOCK_SEQPACKET socket; the end of its other end is the end of serving. Nothing is written
 * to standard output, errors go to standard error.
 * Return: exit code: 0 the client ended the connection or asked for the end; 1 failed or refused; 2 usage.
 */
int cmd_serve(int argc, char *const argv[], char *const env[]);

#endif
