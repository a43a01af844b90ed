/* The rows of the library's table and one more: this folder comes first where test_toy_family includes. */
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
    X(polynomial)                 \
    X(squares)
/* clang-format on */
