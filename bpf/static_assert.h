/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* One name for what C and C++ call differently. */
#ifndef OFFCPUD_STATIC_ASSERT_H
#define OFFCPUD_STATIC_ASSERT_H

#ifdef __cplusplus
#define OFFCPUD_ASSERT static_assert
#else
#define OFFCPUD_ASSERT _Static_assert
#endif

#endif
