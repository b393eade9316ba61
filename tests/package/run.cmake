# cmake -DBUILD=folder -DCOMPILER=c++ -P run.cmake: installs BUILD aside, builds the consumer against it and runs it.
set(work ${BUILD}/package)
file(REMOVE_RECURSE ${work})
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/install)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/consumer -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${work}/install)
run(${CMAKE_COMMAND} --build ${work}/consumer)
run(${work}/consumer/consumer)
