/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped profiles as text, so that ak-policy can show them wherever it is installed. */
	.section .rodata
	.globl policy_shipped_default
policy_shipped_default:
	.incbin "seccomp/profiles/default.json"
	.globl policy_shipped_default_end
policy_shipped_default_end:
	.byte 0
	.globl policy_shipped_strict
policy_shipped_strict:
	.incbin "seccomp/profiles/strict.json"
	.globl policy_shipped_strict_end
policy_shipped_strict_end:
	.byte 0
	.globl policy_shipped_nested
policy_shipped_nested:
	.incbin "seccomp/profiles/nested.json"
	.globl policy_shipped_nested_end
policy_shipped_nested_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
