# The Python package: a wheel with the library and the program in it, and the same unpacked in ${CMAKE_BINARY_DIR}/python/site for
# the tests and for `make install`, which use the system's libraries; `make wheel` puts these in, too. With Debian's tools alone.
set(MEL_WHEELS ${CMAKE_BINARY_DIR}/python)
file(GLOB MEL_PYTHON_FILES CONFIGURE_DEPENDS python/*.py python/*.toml python/melicit/*.py python/melicit/*.pyi python/melicit/py.typed)
file(GLOB MEL_PUBLIC_HEADERS CONFIGURE_DEPENDS include/melicit/*.h)
add_custom_command(OUTPUT ${MEL_WHEELS}/built
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${MEL_WHEELS}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/python ${MEL_WHEELS}/source
    COMMAND ${CMAKE_COMMAND} -E copy README.md LICENSE ${MEL_WHEELS}/source
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:melicit_shared> ${MEL_WHEELS}/source/melicit/libmelicit.so.0
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:melicit_program> ${MEL_WHEELS}/source/melicit/bin/melicit
    COMMAND ${CMAKE_COMMAND} -E env --unset=LD_PRELOAD MELICIT_INCLUDE=${CMAKE_SOURCE_DIR}/include MELICIT_VERSION=${PROJECT_VERSION}
        MELICIT_LIBRARY=${MEL_WHEELS}/source/melicit/libmelicit.so.0 "CC=${CMAKE_C_COMPILER}" PIP_DISABLE_PIP_VERSION_CHECK=1
        /usr/bin/python3 -m build --no-isolation --wheel --outdir ${MEL_WHEELS} ${MEL_WHEELS}/source > ${CMAKE_BINARY_DIR}/python.log
    COMMAND /usr/bin/python3 python/unpack.py ${MEL_WHEELS}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${MEL_WHEELS}/share
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${CMAKE_SOURCE_DIR}/data ${MEL_WHEELS}/share/melicit
    COMMAND ${CMAKE_COMMAND} -E touch ${MEL_WHEELS}/built
    DEPENDS melicit_shared melicit_program ${MEL_PYTHON_FILES} ${MEL_PUBLIC_HEADERS}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Building the Python package" VERBATIM)
set(MEL_WITH_TESTS "")
if(MEL_TESTS)
    set(MEL_WITH_TESTS ALL)
endif()
add_custom_target(python ${MEL_WITH_TESTS} DEPENDS ${MEL_WHEELS}/built)
