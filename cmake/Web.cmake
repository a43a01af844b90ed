# The front end is kept built in web/dist (`make web` builds it anew): it is packed and put into the program, so
# that building needs no Node.js.
add_executable(embed_assets tools/embed_assets.c)
target_compile_definitions(embed_assets PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(embed_assets PRIVATE mel_flags ZLIB::ZLIB)

set(MEL_WEB_DIST ${CMAKE_SOURCE_DIR}/web/dist)
file(GLOB_RECURSE MEL_WEB_FILES CONFIGURE_DEPENDS RELATIVE ${MEL_WEB_DIST} web/dist/*)
list(TRANSFORM MEL_WEB_FILES PREPEND ${MEL_WEB_DIST}/ OUTPUT_VARIABLE MEL_WEB_PATHS)
set(MEL_WEB_TABLE ${CMAKE_BINARY_DIR}/assets_table.c)
add_custom_command(OUTPUT ${MEL_WEB_TABLE}
    COMMAND embed_assets ${MEL_WEB_DIST} ${MEL_WEB_TABLE} ${MEL_WEB_FILES}
    DEPENDS embed_assets ${MEL_WEB_PATHS} COMMENT "Packing the web pages" VERBATIM)
