# The clang of the kernel programs is no compiler of CMake's: it makes code for the kernel of the host that runs them,
# whatever makes the daemon. Where there is no plain `clang`, the newest.
find_program(OFFCPUD_BPF_CLANG
             NAMES clang clang-23 clang-22 clang-21 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 REQUIRED
             DOC "clang that compiles the kernel programs, 14 or newer")
find_program(OFFCPUD_BPFTOOL NAMES bpftool PATHS /usr/sbin REQUIRED)

# add_bpf_skeleton(LIBRARY SOURCE NAME [CLANG]): compiles the kernel programs in SOURCE and embeds them in a generated
# header, NAME.skel.h with the type NAME_bpf, for whoever links LIBRARY.
function(add_bpf_skeleton library source name)
  set(bpf ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  get_filename_component(source ${source} ABSOLUTE)
  get_filename_component(own ${source} DIRECTORY)
  set(clang ${OFFCPUD_BPF_CLANG})
  if(ARGC GREATER 3)
    set(clang ${ARGV3})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${library})
  set(object ${folder}/${name}.bpf.o)
  set(skeleton ${folder}/${name}.skel.h)
  file(MAKE_DIRECTORY ${folder})
  file(GLOB included CONFIGURE_DEPENDS ${bpf}/*.h ${bpf}/*.bpf.c ${own}/*.h)
  # v3: 32-bit subregisters and compare-and-swap; every kernel that is supported has it (5.12 and later).
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${clang} -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_x86
            -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -I${bpf}
            -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
            -c ${source} -o ${object}
    DEPENDS ${source} ${included}
    COMMENT "Compiling ${name}.bpf.o of ${library}")
  add_custom_command(
    OUTPUT ${skeleton}
    # The lint marks keep clang-tidy's analyzer out of code that is not ours.
    COMMAND echo "// NOLINTBEGIN" > ${skeleton}
    COMMAND ${OFFCPUD_BPFTOOL} gen skeleton ${object} name ${name}_bpf >> ${skeleton}
    COMMAND echo "// NOLINTEND" >> ${skeleton}
    DEPENDS ${object}
    COMMENT "Generating ${name}.skel.h of ${library}"
    VERBATIM)
  add_custom_target(${library}_header DEPENDS ${skeleton})
  add_library(${library} INTERFACE)
  target_include_directories(${library} SYSTEM INTERFACE ${folder})
  add_dependencies(${library} ${library}_header)
endfunction()
