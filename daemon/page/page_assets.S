/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the pages as they are, each between NAME_begin and NAME_end. */
.macro asset name, file
.global \name\()_begin
.hidden \name\()_begin
.global \name\()_end
.hidden \name\()_end
\name\()_begin:
.incbin "\file"
\name\()_end:
.endm

.section .rodata
asset offcpud_flame_html, "flame.html"
asset offcpud_flame_css, "flame.css"
asset offcpud_flame_js, "flame.js"
asset offcpud_flame_policy, "policy.txt"
asset offcpud_overview_html, "overview.html"
asset offcpud_overview_css, "overview.css"
asset offcpud_overview_js, "overview.js"
asset offcpud_overview_policy, "overview_policy.txt"

.section .note.GNU-stack, "", %progbits
