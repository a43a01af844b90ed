/* The rows of the library's table and one more: this folder comes first where test_toy_noise includes. */
#define MEL_MODELS(X) X(none) X(band) X(logistic) X(flip) X(person) X(hasty)
