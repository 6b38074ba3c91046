// SPDX-License-Identifier: Apache-2.0
// A library whose exported functions end in code without a symbol: by jumps only, by jumps and
// calls, or by jumps of code that has no symbol, either. Without optimization nothing would be a
// jump, so the instructions are written out.
asm(R"(
    .text

    .macro function name
    .type \name, @function
    \name:
    .cfi_startproc
    .endm

    .macro ends name
    .cfi_endproc
    .size \name, . - \name
    .balign 16
    .endm

    .macro exported name
    .globl \name
    function \name
    .endm

    function slow_take
    nop
    ret
    ends slow_take

    exported app_take_until
    test %rsi, %rsi
    {disp32} je slow_take
    ret
    ends app_take_until

    exported app_take
    nop
    {disp32} jmp slow_take
    ends app_take

    exported _app_take
    {disp32} jmp slow_take
    ends _app_take

    function shared
    nop
    ret
    ends shared

    exported app_jumps
    {disp32} jmp shared
    ends app_jumps

    exported app_calls
    call shared
    ret
    ends app_calls

    function inner
    nop
    ret
    ends inner

    function hidden
    {disp32} jmp inner
    ends hidden

    exported app_ends_in_inner
    {disp32} jmp inner
    ends app_ends_in_inner

    exported app_calls_hidden
    call hidden
    ret
    ends app_calls_hidden

    function loop
    nop
    {disp32} jmp loop
    ends loop
)");
