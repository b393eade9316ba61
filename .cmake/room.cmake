# cellfuse_room(NAME [FOLDERS dir…] [SOURCES file…] [LINKS target…] [PRIVATE_LINKS target…])
#
# One room of the source tree as the static library cellfuse_NAME, also cellfuse::NAME: every *.cpp of this folder
# and of FOLDERS, plus SOURCES. A new file is picked up by the next build. Headers are included from the root.
function(cellfuse_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "FOLDERS;SOURCES;LINKS;PRIVATE_LINKS")
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(folder IN LISTS room_FOLDERS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(APPEND sources ${room_SOURCES})
  if(NOT sources)
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty_room.cpp)
    file(WRITE ${sources} "")
  endif()

  set(target cellfuse_${name})
  add_library(${target} STATIC ${sources})
  add_library(cellfuse::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cellfuse>)
  target_link_libraries(${target} PUBLIC ${CELLFUSE_FMT} ${room_LINKS}
                                  PRIVATE $<BUILD_INTERFACE:cellfuse_options> ${room_PRIVATE_LINKS})
  install(TARGETS ${target} EXPORT cellfuse ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
