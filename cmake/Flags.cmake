# Flags that every object of the project is built with.
add_library(mel_flags INTERFACE)
target_compile_options(mel_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Werror -Wpointer-arith -Wundef -Wwrite-strings
    -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    # One rounding per operation, on every compiler: results do not depend on contraction.
    -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(MEL_SANITIZE)
    target_compile_options(mel_flags INTERFACE -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined
        -fno-sanitize-recover=all)
    target_link_options(mel_flags INTERFACE -fsanitize=address,undefined)
endif()
if(MEL_FUZZ)
    # Loops marked for vector instructions are not turned into such at this level, which is no mistake.
    target_compile_options(mel_flags INTERFACE -O1 -g -fsanitize=fuzzer-no-link,address,undefined
        -fno-sanitize-recover=all -Wno-pass-failed)
    target_link_options(mel_flags INTERFACE -fsanitize=address,undefined)
endif()
