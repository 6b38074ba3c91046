// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// The vDSO as an ELF image in memory; the kernel maps the same one into every process of the
// daemon's word size. ErrorKind::Unsupported: the kernel maps none (vdso=0).
Result<std::string_view> vdso_image();

// The image in a file in memory, for TableStore::add_object().
Result<UniqueFd> vdso_file();

}  // namespace offcpud
