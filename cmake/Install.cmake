# Man page and completion come out of the program's own option tables.
add_custom_command(TARGET melicit_program POST_BUILD
    COMMAND melicit_program help --man > melicit.1
    COMMAND melicit_program help --completion > melicit.bash
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)

# Relative to where it is installed, so that any prefix is right, also one chosen at install time.
file(RELATIVE_PATH MEL_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/melicit.pc.in melicit.pc @ONLY)
install(TARGETS melicit_program melicit_shared melicit_static)
install(DIRECTORY include/melicit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/melicit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/melicit.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/melicit.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME melicit)
install(FILES ${CMAKE_BINARY_DIR}/melicit.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY deploy DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/melicit)
install(DIRECTORY studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/melicit/studies FILES_MATCHING PATTERN "*.json")
