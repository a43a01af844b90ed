# Libraries by name, from Debian; tools/setup.sh installs what is missing.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
find_path(LAPACK_INCLUDE_DIR lapack.h REQUIRED)

add_library(mel_dependencies INTERFACE)
target_include_directories(mel_dependencies SYSTEM INTERFACE ${LAPACK_INCLUDE_DIR})
target_link_libraries(mel_dependencies INTERFACE PkgConfig::OPENBLAS PkgConfig::NLOPT PkgConfig::JANSSON
    PkgConfig::SODIUM PkgConfig::LIBZIP ZLIB::ZLIB OpenMP::OpenMP_C m)
