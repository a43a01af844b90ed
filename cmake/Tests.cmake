# tests/unit and tests/property: one cmocka program per test_*.c.
# tests/fuzz: one libFuzzer target per fuzz_*.c, which without MEL_FUZZ replays its committed corpus.
# tests/system: pytest files that drive the built program.
# make soak configures with MELICIT_SOAK in the environment: everything in full, so with more time.
file(GLOB support CONFIGURE_DEPENDS tests/support/*.c)
set(MEL_TEST_TIMEOUT 1800) # for what hangs: a machine that others use may be six times slower
if(DEFINED ENV{MELICIT_SOAK})
    set(MEL_TEST_TIMEOUT 14400)
endif()

# Under sanitizers run tests/unit, tests/fuzz, tests/torture and the files of tests/system whose pytestmark does not say
# plain; the other tests, tests/property among them, are about numbers, files and what is installed. A mark with soak=True
# and tests/property are for make test: make soak runs them under sanitizers as well.
# A test runs once in make test: under sanitizers, or in the plain build. C programs that are left out are not
# built, but clang-tidy reads them; of a file of system tests that the sanitized build runs, the plain one runs what is left
# (tests/system/conftest.py). make unit, make sanitize and make soak run what can run in each build.
set(MEL_RUN_BY_SYSTEM_TESTS test_report)
option(MEL_TESTS_ONCE "leave tests that the sanitized build runs to it" OFF)
if(DEFINED ENV{MELICIT_SOAK} OR MEL_SANITIZE)
    set(MEL_TESTS_ONCE OFF)
endif()

if(MEL_TESTS)
    pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
    find_program(MEL_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
    find_program(MEL_NODE NAMES node nodejs)
    if(NOT (CMOCKA_FOUND AND MEL_PYTHON AND MEL_NODE AND EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules/esbuild/package.json))
        message(FATAL_ERROR "the tests need libcmocka-dev, python3, Node.js and the packages of web/package-lock.json: run tools/setup.sh test")
    endif()
    # What tests do themselves is little: compiled fast rather than to be fast, and linked by the faster linker.
    set(MEL_TEST_FLAGS -O1)
    if(MEL_SANITIZE)
        set(MEL_TEST_FLAGS -O0)
    endif()
    include(CheckLinkerFlag)
    check_linker_flag(C -fuse-ld=gold MEL_HAS_GOLD)

    add_library(test_support STATIC ${support})
    target_include_directories(test_support PUBLIC src tests)
    target_compile_definitions(test_support PUBLIC _POSIX_C_SOURCE=200809L
        MEL_TEST_SOURCE="${CMAKE_SOURCE_DIR}" MEL_TEST_BINARY="${CMAKE_BINARY_DIR}")
    target_link_libraries(test_support PUBLIC melicit_static PkgConfig::CMOCKA)

    # What tests of the server share; a library of its own, as the others do without its dependencies.
    file(GLOB server_support CONFIGURE_DEPENDS tests/support/server/*.c)
    add_library(test_store_support STATIC ${server_support})
    target_link_libraries(test_store_support PUBLIC test_support melicit_store)

    file(GLOB programs CONFIGURE_DEPENDS tests/unit/test_*.c tests/property/test_*.c)
    foreach(source ${programs})
        get_filename_component(name ${source} NAME_WE)
        set(long FALSE)
        if(source MATCHES "/property/" AND NOT DEFINED ENV{MELICIT_SOAK})
            set(long TRUE)
        endif()
        set(left_out FALSE)
        if((MEL_SANITIZE AND long) OR (MEL_TESTS_ONCE AND NOT long AND NOT name IN_LIST MEL_RUN_BY_SYSTEM_TESTS))
            set(left_out TRUE)
        endif()
        add_executable(${name} ${source})
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${left_out})
        target_link_libraries(${name} PRIVATE test_support)
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS ${MEL_TEST_FLAGS})
        if(MEL_HAS_GOLD)
            target_link_options(${name} PRIVATE -fuse-ld=gold)
        endif()
        if(name MATCHES "^test_(store|server)")
            target_link_libraries(${name} PRIVATE test_store_support)
        endif()
        if(name MATCHES "^test_server")
            target_link_libraries(${name} PRIVATE melicit_server)
        endif()
        if(name STREQUAL "test_server_options") # runs the program
            add_dependencies(${name} melicit_program)
        endif()
        # A toy is the library with one more row: its table of rows comes before the library's.
        if(name STREQUAL "test_toy_noise")
            target_sources(${name} PRIVATE tests/toy/noise_hasty.c src/oracle/noise/table.c)
            target_include_directories(${name} BEFORE PRIVATE tests/toy)
        elseif(name STREQUAL "test_toy_family")
            target_sources(${name} PRIVATE tests/toy/family_squares.c tests/toy/elicit_squares.c
                src/metric/families/table.c src/elicit/families/families.c)
            target_include_directories(${name} BEFORE PRIVATE tests/toy)
        endif()
        if(NOT left_out)
            set(one_core "")
            if(MEL_THREADS AND name MATCHES "^test_server_(flow|cache|faults)$") # as for system tests, below
                set(one_core taskset -c 0)
            endif()
            add_test(NAME ${name} COMMAND ${one_core} $<TARGET_FILE:${name}>)
            set_tests_properties(${name} PROPERTIES TIMEOUT ${MEL_TEST_TIMEOUT})
        endif()
    endforeach()

    # tests/torture: each verb and some scripts with each allocation failing once. The program is part of it.
    file(GLOB torture CONFIGURE_DEPENDS tests/torture/*.c)
    add_executable(torture ${torture} ${CMAKE_SOURCE_DIR}/cli/ranks.c)
    set_target_properties(torture PROPERTIES EXCLUDE_FROM_ALL ${MEL_TESTS_ONCE})
    target_link_libraries(torture PRIVATE melicit_verbs test_store_support)
    target_link_options(torture PRIVATE -no-pie -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free)
    if(NOT MEL_TESTS_ONCE)
        add_test(NAME torture COMMAND torture)
        set_tests_properties(torture PROPERTIES TIMEOUT ${MEL_TEST_TIMEOUT})
    endif()

    # What system tests run besides the program itself.
    file(GLOB programs CONFIGURE_DEPENDS tests/support/programs/*.c)
    foreach(source ${programs})
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_include_directories(${name} PRIVATE src)
        target_link_libraries(${name} PRIVATE melicit_static PkgConfig::JANSSON)
    endforeach()
endif()

file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${fuzzers})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" corpus ${name})
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE src)
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
    target_link_libraries(${name} PRIVATE melicit_static)
    if(name STREQUAL "fuzz_study")
        target_sources(${name} PRIVATE tests/support/server/problem.c)
        target_include_directories(${name} PRIVATE tests)
        target_link_libraries(${name} PRIVATE melicit_server)
    endif()
    if(MEL_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${name} PRIVATE tests/fuzz/replay.c)
        if(MEL_TESTS_ONCE)
            continue()
        endif()
        add_test(NAME ${name}_corpus COMMAND ${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${corpus})
    endif()
endforeach()

# What takes a few seconds shares a row with others: Python, pytest and NumPy start in half a second, scikit-learn in one more.
set(MEL_SYSTEM_TESTS_TOGETHER
    "files: test_corrections test_make test_report test_site test_thesis_map"
    "rules: test_certainty test_classifiers test_data test_rank test_space_classes"
    "inputs: test_named_numpy test_pools"
    "words: test_apply_words test_column_names test_metric test_optimise_failures test_optimise_ways test_refuse_classes test_serve_questions test_shards"
    "sklearn: test_measures_sklearn test_named_sklearn test_rank_sklearn")
if(MEL_TESTS)
    file(GLOB scripts CONFIGURE_DEPENDS tests/system/test_*.py)
    set(sanitized ${MEL_SANITIZE})
    if(MEL_THREADS)
        set(sanitized ON)
    endif()
    set(rows "")
    foreach(script ${scripts})
        get_filename_component(name ${script} NAME_WE)
        set(plain FALSE)
        file(STRINGS ${script} mark REGEX "^pytestmark = .?pytest.mark.plain")
        if(mark AND NOT (mark MATCHES "soak=True" AND DEFINED ENV{MELICIT_SOAK}))
            set(plain TRUE)
        endif()
        if(MEL_SANITIZE AND plain)
            continue()
        endif()
        set(row system_${name})
        foreach(together ${MEL_SYSTEM_TESTS_TOGETHER})
            if(together MATCHES "^([a-z]+):.* ${name}( |$)")
                set(row system_${CMAKE_MATCH_1})
            endif()
        endforeach()
        if(MEL_TESTS_ONCE AND NOT plain)
            set(row system_rest)
            if(name MATCHES "^test_serve")
                set(row system_rest_serve)
            endif()
            set(once_${row} ON)
        endif()
        list(APPEND rows ${row})
        list(APPEND scripts_of_${row} ${script})
    endforeach()
    list(REMOVE_DUPLICATES rows)
    foreach(row ${rows})
        # ThreadSanitizer does not see how OpenMP's threads wait for each other: what computes has one of them, as on one core.
        set(one_core "")
        if(MEL_THREADS AND row STREQUAL "system_test_serve")
            set(one_core taskset -c 0)
        endif()
        add_test(NAME ${row} COMMAND ${one_core} ${MEL_PYTHON} -m pytest -q -rs -p no:cacheprovider
            -W error::pytest.PytestUnhandledThreadExceptionWarning ${scripts_of_${row}})
        list(LENGTH scripts_of_${row} files)
        math(EXPR timeout "${MEL_TEST_TIMEOUT} * ${files}")
        set_tests_properties(${row} PROPERTIES TIMEOUT ${timeout} LABELS system ENVIRONMENT
            "MELICIT_BUILD=${CMAKE_BINARY_DIR};MELICIT_SANITIZE=${sanitized};MELICIT_TESTS_ONCE=${once_${row}};PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endif()

# web/: types, pure functions, and that web/dist is what web/src builds to; tests/browser: the pages in Chromium
# against the built program.
if(MEL_TESTS AND NOT MEL_SANITIZE)
    add_test(NAME web_dist COMMAND ${MEL_NODE} check_dist.mjs WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web)
    add_test(NAME web_types COMMAND ${MEL_NODE} node_modules/typescript/bin/tsc --noEmit
        WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web)
    add_test(NAME web_functions COMMAND ${MEL_NODE} test.mjs WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/web)
    file(GLOB scripts CONFIGURE_DEPENDS tests/browser/*.test.mjs)
    foreach(script ${scripts})
        get_filename_component(name ${script} NAME_WE)
        add_test(NAME browser_${name} COMMAND ${MEL_NODE} --test ${script})
        set_tests_properties(browser_${name} PROPERTIES TIMEOUT ${MEL_TEST_TIMEOUT} LABELS browser ENVIRONMENT
            "MELICIT_PROGRAM=$<TARGET_FILE:melicit_program>")
    endforeach()
endif()

# The house rules, next to the tests so that they share the cores.
if(MEL_TESTS AND NOT MEL_SANITIZE)
    foreach(check format banned silent rooms headers docs prose symbols)
        add_test(NAME lint_${check} COMMAND ${MEL_PYTHON} tools/lint.py --build ${CMAKE_BINARY_DIR} --jobs 1 --only ${check}
            WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(lint_${check} PROPERTIES LABELS lint)
    endforeach()
    foreach(folder src cli server tests bench tools)
        add_test(NAME lint_tidy_${folder} COMMAND ${MEL_PYTHON} tools/lint.py --build ${CMAKE_BINARY_DIR} --jobs 1 --only tidy
            --under ${folder} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(lint_tidy_${folder} PROPERTIES LABELS lint TIMEOUT 3600)
    endforeach()
endif()

# Tests that take long start first, so that none runs alone at the end: seconds in make test on two cores, next to others.
foreach(cost browser_flows=186 browser_study=155 system_test_cli=144 lint_tidy_src=122 system_rest=110 system_rest_serve=105 browser_session=77
        browser_saved=67 browser_own=67 browser_start=60 lint_tidy_tests=55 system_test_serve=70 system_test_serve_abuse=60 system_test_ranks=40 browser_result=46 system_test_zoo=43
        system_words=40 system_rules=35 system_inputs=20 system_sklearn=30 system_files=25
        browser_small=40 system_test_serve_postgres=39 system_test_serve_twelve=34
        system_test_elicit=33 system_test_kill=33 torture=60 test_server_cache=33 system_test_sklearn=28
        system_test_python_docs=27 system_test_serve_cluster=27 system_test_apply=25 lint_tidy_cli=23
        system_test_python_estimators=22 system_test_python_people=21 lint_tidy_server=19 system_test_candidates=19
        test_store_faults=19 system_test_search_fair=26 system_test_repro=22 system_test_guide=18 system_test_names=18 system_test_serve_limits=18
        test_session_posterior=18 system_test_optimise=17 system_test_permutations=15
        system_test_posterior=14 system_test_bad_input=13 system_test_reading=13
        system_test_search_curved=13 browser_compare=12 lint_format=11
        system_test_python_fuzz=11 system_test_terminal=11 test_diagonal_search=11
        system_test_elicit_classes=10)
    string(REPLACE "=" ";" cost ${cost})
    list(GET cost 0 name)
    list(GET cost 1 seconds)
    if(TEST ${name})
        set_tests_properties(${name} PROPERTIES COST ${seconds})
    endif()
endforeach()

# ctest counts processors (see tools/test.py): a test that computes takes two, a test of pages or of a server, which
# mostly waits, takes one.
get_property(names DIRECTORY PROPERTY TESTS)
foreach(name ${names})
    if(NOT name MATCHES "^(browser_|system_(rest|test)_(serve|kill|terminal))")
        set_tests_properties(${name} PROPERTIES PROCESSORS 2)
    endif()
endforeach()
