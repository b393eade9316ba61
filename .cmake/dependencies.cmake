# Everything the build takes from outside.

find_package(Threads REQUIRED)

find_package(fmt REQUIRED)
if(CELLFUSE_PORTABLE)
  set(CELLFUSE_FMT fmt::fmt-header-only)
else()
  set(CELLFUSE_FMT fmt::fmt)
endif()

if(CELLFUSE_CPU_JIT)
  find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19)
  if(NOT LLVM_FOUND)
    message(FATAL_ERROR
      "LLVM 19 was not found; the CPU JIT needs it.\n"
      "  Debian, Ubuntu:  apt-get install llvm-19-dev zlib1g-dev libzstd-dev\n"
      "  elsewhere:       -DLLVM_DIR=<prefix>/lib/cmake/llvm\n"
      "  without it:      -DCELLFUSE_CPU_JIT=OFF (cells then compile but do not run on the CPU)")
  endif()
  find_package(OpenBLAS QUIET)
  if(NOT OpenBLAS_FOUND)
    message(FATAL_ERROR
      "OpenBLAS was not found; the CPU JIT needs it.\n"
      "  Debian, Ubuntu:  apt-get install libopenblas-dev\n"
      "  elsewhere:       -DOpenBLAS_ROOT=<prefix>\n"
      "  without it:      -DCELLFUSE_CPU_JIT=OFF (cells then compile but do not run on the CPU)")
  endif()

  # The shared library links in a moment; the components are for builds of LLVM that have none.
  add_library(cellfuse_llvm INTERFACE)
  target_include_directories(cellfuse_llvm SYSTEM INTERFACE $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
  if(TARGET LLVM)
    target_link_libraries(cellfuse_llvm INTERFACE LLVM)
  else()
    llvm_map_components_to_libnames(components core orcjit native passes)
    target_link_libraries(cellfuse_llvm INTERFACE ${components})
  endif()
  install(TARGETS cellfuse_llvm EXPORT cellfuse)
endif()

set(CELLFUSE_CUDA_FOUND OFF)
if(NOT CELLFUSE_CUDA STREQUAL "OFF" AND NOT CELLFUSE_PORTABLE)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    set(CELLFUSE_CUDA_FOUND ${CUDAToolkit_VERSION})
  elseif(CELLFUSE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "The CUDA toolkit was not found: set CUDAToolkit_ROOT, or configure with -DCELLFUSE_CUDA=OFF")
  endif()
endif()
