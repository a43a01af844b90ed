/* One row per family of metrics, in the order of mel_family: X(name). A family is the mel_family_ops called
 * mel_family_NAME of a file in this folder, and the mel_elicit_ops called mel_elicit_NAME of a file in
 * elicit/families. */
/* clang-format off */
#define MEL_FAMILIES(X)           \
    X(linear)                     \
    X(linear_fractional)          \
    X(diagonal_linear)            \
    X(diagonal_linear_fractional) \
    X(monotone)                   \
    X(fair_linear)                \
    X(quadratic)                  \
    X(fair_quadratic)             \
    X(polynomial)
/* clang-format on */
