/* SPDX-License-Identifier: Apache-2.0 */
/* The ak-init binaries inside ak: read-only bytes between two symbols each (see executor/ns/init_image.c). */
	.section .rodata.init, "a"	/* start.ld */
	.balign 16
	.globl ak_init_blob
	.hidden ak_init_blob
ak_init_blob:
	.incbin INIT_PATH
	.globl ak_init_blob_end
	.hidden ak_init_blob_end
ak_init_blob_end:
	.byte 0
	.section .rodata
	.balign 16
	.globl ak_serve_blob
	.hidden ak_serve_blob
ak_serve_blob:
	.incbin SERVE_PATH
	.globl ak_serve_blob_end
	.hidden ak_serve_blob_end
ak_serve_blob_end:
	.byte 0
	.byte 0
	.balign 16
	.globl ak_held_blob
	.hidden ak_held_blob
ak_held_blob:
	.incbin HELD_PATH
	.globl ak_held_blob_end
	.hidden ak_held_blob_end
ak_held_blob_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
