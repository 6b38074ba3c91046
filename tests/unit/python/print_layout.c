// SPDX-License-Identifier: Apache-2.0
// Prints the fields of a PythonLayout (daemon/python/python_layout.h) for the CPython whose headers
// it is compiled with:
//   gcc -I INCLUDE -I INCLUDE/internal print_layout.c -o print_layout
// INCLUDE is as `python3.X -c 'import sysconfig; print(sysconfig.get_path("include"))'` says.
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX < 0x03090000
#include <internal/pycore_pystate.h>
#else
#include <internal/pycore_runtime.h>
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#endif

#define PRINT(name, value) printf(".%s = %zu, ", #name, (size_t)(value))
#define FIELD(name, type, member) PRINT(name, offsetof(type, member))

// A Py_tss_t has its number behind a flag of 4 bytes.
#if PY_VERSION_HEX >= 0x030c0000
#define KEY offsetof(_PyRuntimeState, autoTSSkey)
#else
#define KEY offsetof(_PyRuntimeState, gilstate.autoTSSkey)
#endif
#if PY_VERSION_HEX >= 0x030d0000
#define FRAME current_frame
#elif PY_VERSION_HEX >= 0x030b0000
#define FRAME cframe
#else
#define FRAME frame
#endif

#if PY_VERSION_HEX >= 0x030b0000
static void print_frame(void) {
  FIELD(previous, struct _PyInterpreterFrame, previous);
  FIELD(owner, struct _PyInterpreterFrame, owner);
#if PY_VERSION_HEX >= 0x030d0000
  FIELD(code, struct _PyInterpreterFrame, f_executable);
  FIELD(instruction, struct _PyInterpreterFrame, instr_ptr);
#else
  FIELD(code, struct _PyInterpreterFrame, f_code);
  FIELD(instruction, struct _PyInterpreterFrame, prev_instr);
  FIELD(cframe_frame, _PyCFrame, current_frame);
  FIELD(cframe_previous, _PyCFrame, previous);
#if PY_VERSION_HEX < 0x030c0000
  FIELD(is_entry, struct _PyInterpreterFrame, is_entry);
#endif
#endif
}
#else
static void print_frame(void) {
  FIELD(code, PyFrameObject, f_code);
  FIELD(previous, PyFrameObject, f_back);
  FIELD(instruction, PyFrameObject, f_lasti);
}
#endif

int main(void) {
  printf("%s: .minor = %d, ", PY_VERSION, PY_MINOR_VERSION);
  PRINT(thread_key, KEY + 4);
  FIELD(interpreters, _PyRuntimeState, interpreters.head);
#if PY_VERSION_HEX >= 0x030c0000
  FIELD(gil, PyInterpreterState, ceval.gil);
#else
  FIELD(gil, _PyRuntimeState, ceval.gil);
#endif
  FIELD(thread_id, PyThreadState, thread_id);
  FIELD(frame, PyThreadState, FRAME);
  print_frame();
  FIELD(file, PyCodeObject, co_filename);
#if PY_VERSION_HEX >= 0x030b0000
  FIELD(name, PyCodeObject, co_qualname);
  FIELD(instructions, PyCodeObject, co_code_adaptive);
#else
  FIELD(name, PyCodeObject, co_name);
#endif
  FIELD(first_line, PyCodeObject, co_firstlineno);
#if PY_VERSION_HEX >= 0x030a0000
  FIELD(lines, PyCodeObject, co_linetable);
#else
  FIELD(lines, PyCodeObject, co_lnotab);
#endif
  PRINT(ascii, sizeof(PyASCIIObject));
  PRINT(compact, sizeof(PyCompactUnicodeObject));
  printf("\n");
  // What python_gil.cpp takes as the same in all versions.
  _Static_assert(offsetof(_PyRuntimeState, interpreters.main) ==
                     offsetof(_PyRuntimeState, interpreters.head) + 8,
                 "pyinterpreters");
  _Static_assert(offsetof(struct _gil_runtime_state, last_holder) == 8 &&
                     offsetof(struct _gil_runtime_state, locked) == 16 &&
                     offsetof(struct _gil_runtime_state, switch_number) == 24 &&
                     offsetof(struct _gil_runtime_state, cond) == 32 &&
                     offsetof(struct _gil_runtime_state, mutex) == 80,
                 "_gil_runtime_state");
#if PY_VERSION_HEX >= 0x030b0000
  _Static_assert(
      offsetof(PyThreadState, native_thread_id) == offsetof(PyThreadState, thread_id) + 8,
      "PyThreadState");
#endif
  return 0;
}
