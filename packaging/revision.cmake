# OFFCPUD_REVISION: of the tree that is built. Git says it, of a clone; in what git archive makes of
# one it stands in packaging/revision, where git puts it; and -DOFFCPUD_REVISION=... overrules both.
if(NOT OFFCPUD_REVISION)
  set(OFFCPUD_REVISION unknown)
  find_package(Git QUIET)
  file(STRINGS packaging/revision archived REGEX "^[0-9a-f]+$")
  if(archived)
    string(SUBSTRING "${archived}" 0 12 OFFCPUD_REVISION)
  elseif(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    # The tree may be that of the user who called sudo.
    set(git ${GIT_EXECUTABLE} -c safe.directory=${PROJECT_SOURCE_DIR} -C ${PROJECT_SOURCE_DIR})
    execute_process(COMMAND ${git} rev-parse --short=12 HEAD RESULT_VARIABLE failed
                    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(OFFCPUD_REVISION ${head})
      # Another commit configures the tree again.
      execute_process(COMMAND ${git} rev-parse --path-format=absolute --git-path logs/HEAD
                      OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(EXISTS "${log}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
      endif()
    endif()
  endif()
endif()
