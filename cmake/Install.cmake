# Man page and completion come out of the program's own option tables.
add_custom_command(TARGET melicit_program POST_BUILD
    COMMAND melicit_program help --as man > melicit.1
    COMMAND melicit_program help --as bash > melicit.bash
    COMMAND melicit_program help --as zsh > _melicit
    COMMAND melicit_program help --as fish > melicit.fish
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)

# Relative to where it is installed, so that any prefix is right, also one chosen at install time.
file(RELATIVE_PATH MEL_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/melicit.pc.in melicit.pc @ONLY)
file(RELATIVE_PATH MEL_CMAKE_UP /${CMAKE_INSTALL_LIBDIR}/cmake/melicit /)
configure_file(cmake/melicitConfig.cmake.in melicitConfig.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(melicitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/melicitConfig.cmake ${CMAKE_BINARY_DIR}/melicitConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/melicit)
install(TARGETS melicit_program melicit_shared melicit_static)
if(TARGET melicit_mpi)
    install(TARGETS melicit_mpi)
endif()
install(DIRECTORY include/melicit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/melicit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/melicit.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/melicit.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME melicit)
install(FILES ${CMAKE_BINARY_DIR}/_melicit DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${CMAKE_BINARY_DIR}/melicit.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${CMAKE_BINARY_DIR}/melicit.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY deploy DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/melicit)
install(DIRECTORY studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/melicit/studies FILES_MATCHING PATTERN "*.json")
# The Python package, where it was built: below /usr/local Debian's Python finds it there, elsewhere with PYTHONPATH.
set(MEL_PYTHON_VERSION 3)
find_program(MEL_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(MEL_SYSTEM_PYTHON)
    execute_process(COMMAND ${MEL_SYSTEM_PYTHON} -c "import sys; print('%d.%d' % sys.version_info[:2])"
        OUTPUT_VARIABLE MEL_PYTHON_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/python/site/ DESTINATION lib/python${MEL_PYTHON_VERSION}/dist-packages OPTIONAL USE_SOURCE_PERMISSIONS)
