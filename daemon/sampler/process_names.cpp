// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_names.h"

#include "symbols/demangle.h"

namespace offcpud {
namespace {

std::string file_name(const std::string& path) {
  return shown_name(std::string_view(path).substr(path.find_last_of('/') + 1));
}

}  // namespace

StackFrame ProcessNames::name(const offcpud_sample& sample, const LocatedFrame& frame, bool waker) {
  if (frame.file && frame.file->kind == MappedFile::Kind::File) return in_object(frame);
  StackFrame named;  // no address: it would reveal where the process has its memory
  if (!frame.file) {
    named.function = "[unknown]";
  } else if (frame.file->kind == MappedFile::Kind::Vdso) {
    named.object = "[vdso]";
    named.address = frame.file_offset;
    named.function = in_vdso(frame);
  } else if (frame.file->kind == MappedFile::Kind::Anonymous) {
    named.object = "[jit]";
    named.function = in_runtime(sample, frame, waker);
  } else {
    named.function = shown_name(frame.file->path);
  }
  return named;
}

StackFrame ProcessNames::in_object(const LocatedFrame& frame) {
  StackFrame named;
  named.object = file_name(frame.file->path);
  named.address = objects_.address_of(frame.object, frame.file_offset).value_or(frame.file_offset);
  if (frame.file->object) named.build_id = frame.file->object->build_id.hex();
  if (frame.object != 0) {
    if (auto found = objects_.resolve_offset(frame.object, frame.file_offset)) {
      named.function = std::move(found->name);
      return named;
    }
  }
  named.function = place_name(named.object, frame.file_offset);
  return named;
}

std::string ProcessNames::in_runtime(const offcpud_sample& sample, const LocatedFrame& frame,
                                     bool waker) {
  // The start of the waker's process is unknown, so a later process of that number could be
  // mistaken for it.
  if (!waker) {
    const PerfMaps::Process process{sample.local_tgid, sample.process_start_ns};
    if (auto found = runtime_.perf_maps.find(process, frame.address, now_)) return *found;
    const auto code = runtime_.jit ? runtime_.jit->find(process) : nullptr;
    const JitFunction* const function = code ? code->find(frame.address) : nullptr;
    if (function != nullptr && !function->name.empty()) return function->name;
  }
  return "[jit]";
}

std::string ProcessNames::in_vdso(const LocatedFrame& frame) const {
  if (runtime_.vdso) {
    if (const auto found = runtime_.vdso->functions().find(frame.file_offset)) {
      if (!found->name.empty()) return demangle(found->name);
    }
  }
  return "[vdso]";
}

}  // namespace offcpud
