# The front end: bundled by esbuild, packed and put into the program. tools/setup.sh brings node and the
# packages of web/package-lock.json; nothing is fetched here.
find_program(MEL_NODE NAMES node nodejs)
if(NOT MEL_NODE)
    message(FATAL_ERROR "node is missing, which bundles the web pages: run tools/setup.sh build (or install Node.js 18 or later)")
endif()
if(NOT EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules/esbuild/package.json)
    message(FATAL_ERROR "the packages of web/package-lock.json are missing: run tools/setup.sh build (or npm ci in web/)")
endif()

set(MEL_WEB_BUILD ${CMAKE_BINARY_DIR}/web)
file(GLOB_RECURSE MEL_WEB_SOURCES CONFIGURE_DEPENDS web/src/* studies/*.json)
add_custom_command(OUTPUT ${MEL_WEB_BUILD}/assets_table.c
    COMMAND ${CMAKE_COMMAND} -E make_directory ${MEL_WEB_BUILD}
    COMMAND ${MEL_NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${MEL_WEB_BUILD}/dist
    COMMAND ${MEL_NODE} ${CMAKE_SOURCE_DIR}/web/embed.mjs ${MEL_WEB_BUILD}/dist ${MEL_WEB_BUILD}/assets_table.c
    DEPENDS ${MEL_WEB_SOURCES} web/build.mjs web/embed.mjs web/package-lock.json
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web COMMENT "Bundling the web pages" VERBATIM)
