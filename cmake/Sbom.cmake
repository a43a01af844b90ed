# What the program is made of, for those who must know (SPDX 2.3): its own version, the libraries it is linked with, in
# the versions that were found, and the packages that are part of its pages. Made whenever the build is configured.
find_package(Threads REQUIRED)
set(MEL_SBOM_PARTS "")
set(MEL_SBOM_RELATIONS "")
set(MEL_WEB_PARTS "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS web/package-lock.json)
file(READ web/package-lock.json MEL_WEB_LOCK)
string(JSON MEL_WEB_NAMES GET "${MEL_WEB_LOCK}" packages "" dependencies)
string(JSON MEL_WEB_COUNT LENGTH "${MEL_WEB_NAMES}")
math(EXPR MEL_WEB_LAST "${MEL_WEB_COUNT} - 1")
foreach(i RANGE ${MEL_WEB_LAST})
    string(JSON name MEMBER "${MEL_WEB_NAMES}" ${i})
    string(JSON version GET "${MEL_WEB_LOCK}" packages "node_modules/${name}" version)
    list(APPEND MEL_WEB_PARTS ${name}=${version})
endforeach()
foreach(part openblas=${OPENBLAS_VERSION} nlopt=${NLOPT_VERSION} jansson=${JANSSON_VERSION} libsodium=${SODIUM_VERSION}
        zlib=${ZLIB_VERSION_STRING} libzip=${LIBZIP_VERSION} sqlite=${SQLITE_VERSION} libmicrohttpd=${MICROHTTPD_VERSION} libpq=${POSTGRES_VERSION}
        libgomp=${CMAKE_C_COMPILER_VERSION} ${MEL_WEB_PARTS})
    string(REPLACE "=" ";" part ${part})
    list(LENGTH part known)
    if(known LESS 2) # the PostgreSQL store may be left out
        continue()
    endif()
    list(GET part 0 name)
    list(GET part 1 version)
    string(APPEND MEL_SBOM_PARTS ",\n    {\"SPDXID\": \"SPDXRef-${name}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", "
        "\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false}")
    string(APPEND MEL_SBOM_RELATIONS ",\n    {\"spdxElementId\": \"SPDXRef-melicit\", \"relationshipType\": \"DEPENDS_ON\", "
        "\"relatedSpdxElement\": \"SPDXRef-${name}\"}")
endforeach()
string(TIMESTAMP MEL_SBOM_TIME "%Y-%m-%dT%H:%M:%SZ" UTC)
configure_file(cmake/melicit.spdx.json.in melicit.spdx.json @ONLY)
