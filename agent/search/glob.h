/* SPDX-License-Identifier: Apache-2.0 */
/* File name patterns as .gitignore has them. Pure. Process: in the sandbox. Privilege: none. Source: gitignore(5), fnmatch(3). */
#ifndef AK_AGENT_SEARCH_GLOB_H
#define AK_AGENT_SEARCH_GLOB_H

#include <stdbool.h>

#define GLOB_STEPS 20000u /* of one match; one that takes more is none */

/**
 * glob_match() - does the whole of @text match?
 * * and ? match anything but a slash; [a-z], [!a-z], [[:alpha:]] one such character; \ takes the next one as it is. "**" as a whole
 * component stands for any number of them: "**" + "/x", "x/" + "**", "a/" + "**" + "/b"; elsewhere it is *. Bytes are compared, case counts.
 */
bool glob_match(const char *pattern, const char *text);

#endif
