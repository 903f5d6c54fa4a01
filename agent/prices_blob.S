/* SPDX-License-Identifier: Apache-2.0 */
/* The price table inside ak-agent: agent/prices.json between two symbols (see agent/prices_load.c). */
	.section .rodata
	.globl ak_prices_json
	.hidden ak_prices_json
ak_prices_json:
	.incbin "agent/prices.json"
	.globl ak_prices_json_end
	.hidden ak_prices_json_end
ak_prices_json_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
