# The probe that ./run boots, but for the kernel programs and what loads them.
set(OFFCPUD_PROBE_SOURCES
  cgroup.cpp
  child_process.cpp
  kernel_checks.cpp
  kernel_objects.cpp
  known_waits_check.cpp
  load_checks.cpp
  measured_process.cpp
  probe.cpp
  reading.cpp
  report.cpp
  restarted_calls_check.cpp
  stack_checks.cpp)
list(TRANSFORM OFFCPUD_PROBE_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
