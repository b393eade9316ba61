# cmake -DOUTPUT=file.cpp -DMACHINE=machine.cuh "-DLIBRARY=a.cuh;b.cuh" -P embed.cmake

file(READ ${MACHINE} machine)
set(library "")
foreach(path IN LISTS LIBRARY)
  file(READ ${path} text)
  string(APPEND library "    R\"prelude(\n${text})prelude\"\n")
endforeach()

file(WRITE ${OUTPUT} "// Generated from codegen/cuda/prelude.
#include \"codegen/cuda/emit.h\"

namespace cellfuse::cuda {

namespace {
constexpr const char* kMachine =
    R\"prelude(${machine})prelude\";
constexpr const char* kLibrary =
${library}    \"\";
}  // namespace

std::string prelude(bool machine) { return (machine ? std::string(kMachine) : std::string()) + kLibrary; }

}  // namespace cellfuse::cuda
")
