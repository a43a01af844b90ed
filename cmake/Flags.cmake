# Flags that every object of the project is built with.
add_library(mel_flags INTERFACE)
target_compile_options(mel_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wpointer-arith -Wundef -Wwrite-strings
    -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    # One rounding per operation, on every compiler: results do not depend on contraction.
    -ffp-contract=off -fno-math-errno -fno-trapping-math)
# Only for tests (tools/test.py): a newer compiler must never fail a user's build.
if(MEL_WERROR)
    target_compile_options(mel_flags INTERFACE -Werror)
endif()
# What makes a mistake in memory harder to exploit. Sanitizers check the same things themselves, and more.
if(NOT MEL_SANITIZE AND NOT MEL_THREADS AND NOT MEL_FUZZ)
    include(CheckCCompilerFlag)
    target_compile_options(mel_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    foreach(flag stack-clash-protection cf-protection) # not every processor and compiler has them
        string(MAKE_C_IDENTIFIER MEL_HAS_${flag} known)
        check_c_compiler_flag(-Werror\ -f${flag} ${known})
        if(${known})
            target_compile_options(mel_flags INTERFACE -f${flag})
        endif()
    endforeach()
    target_link_options(mel_flags INTERFACE LINKER:-z,relro,-z,now)
endif()
if(MEL_SANITIZE)
    target_compile_options(mel_flags INTERFACE -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined
        -fno-sanitize-recover=all)
    # What sanitizers know of the source is full of addresses: at a fixed place programs start in three quarters of the time.
    target_link_options(mel_flags INTERFACE -fsanitize=address,undefined $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(MEL_THREADS)
    target_compile_options(mel_flags INTERFACE -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
        -Wno-maybe-uninitialized -Wno-format-truncation)
    target_link_options(mel_flags INTERFACE -fsanitize=thread)
endif()
if(MEL_FUZZ)
    # Loops marked for vector instructions are not turned into such at this level, which is no mistake.
    target_compile_options(mel_flags INTERFACE -O1 -g -fsanitize=fuzzer-no-link,address,undefined
        -fno-sanitize-recover=all -Wno-pass-failed)
    target_link_options(mel_flags INTERFACE -fsanitize=address,undefined)
endif()
