/* One row per model of how answers err, in the order of mel_noise_kind: X(name), the model being the
 * mel_noise_ops called mel_noise_NAME of its file NAME.c. */
#define MEL_MODELS(X) X(none) X(band) X(logistic) X(flip) X(person)
