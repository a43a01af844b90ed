/* An encoder as a part of a JSON document (the model file):
 *   {"layout": "sparse" | "dense",
 *    "columns": [{"name": "age", "type": "number", "median": 37, "mean": 38.6, "deviation": 13.6},
 *                {"name": "sex", "type": "text", "categories": ["Female", "Male"], "mode": "Male",
 *                 "missing_category": false}, ...],
 *    "dropped": ["names of columns that had no value"]}
 * or, for numbered features, {"layout": ..., "deviations": [1.5, ...]}. */
#ifndef MEL_DATA_ENCODER_JSON_H
#define MEL_DATA_ENCODER_JSON_H

#include "data/shared.h"

#include <jansson.h>

/* *out is the caller's reference. */
mel_status mel_encoder_to_json(json_t **out, const mel_encoder *encoder, mel_error *err);
/* Refuses (MEL_EDATA, with the place) whatever mel_encoder_to_json would not write. */
mel_status mel_encoder_from_json(mel_encoder **out, const json_t *json, mel_error *err);

#endif
