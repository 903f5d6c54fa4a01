/* SPDX-License-Identifier: Apache-2.0 */
/* What a run taught about its calls: from the executor to ak-policy, as these bytes. Header only. */
#ifndef AK_SHARED_AK_LEARNED_H
#define AK_SHARED_AK_LEARNED_H

#include <stdint.h>

#define AK_LEARNED_NUMBERS 512u	/* numbers of both architectures end below */

struct ak_learned {
	uint8_t used[AK_LEARNED_NUMBERS / 8];		/* bit N of byte N / 8: call N passed the filters */
	uint16_t refused[AK_LEARNED_NUMBERS];		/* errno that the profile gave to call N, not the floor; 0: never */
};

#endif
