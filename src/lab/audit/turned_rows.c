#include "lab/audit/turned_rows.h"

#include <math.h>

#include "data/generate.h"

enum { DIMENSION = 2 };

tacit_status tacit_turned_rows_make(tacit_turned_rows *out, size_t rows, double sine, tacit_error *error) {
    double cosine = sqrt(1 - sine * sine) * (1 - 1e-12);
    TACIT_TRY(tacit_split_in_order(&out->split, 1, rows, error));
    for (int side = 0; side < 2; side++) {
        tacit_stream stream = tacit_stream_from_seed(1);
        TACIT_TRY(tacit_generate_ball(&out->data[side], rows, DIMENSION, NULL, &stream, error));
        out->data[side]->dense.values[0] = sine;
        out->data[side]->dense.values[1] = side == 0 ? cosine : -cosine;
        out->data[side]->label[0] = 0;
    }
    return TACIT_OK;
}

tacit_status tacit_turned_rows_start(tacit_turned_rows *self, tacit_error *error) {
    for (int side = 0; side < 2; side++)
        TACIT_TRY(tacit_local_create(&self->local[side], self->data[side], self->split, NULL, error));
    return TACIT_OK;
}

tacit_status tacit_turned_rows_plan(tacit_plan *plan, size_t features, size_t rows, tacit_error *error) {
    plan->features = features;
    plan->parties = plan->minimum_parties = 1;
    plan->minimum_rows = rows;
    return tacit_plan_shares_noise(plan) ? TACIT_OK : tacit_plan_set(plan, "noise", "party", error);
}

tacit_status tacit_turned_rows_begin(tacit_turned_rows *self, int side, const tacit_plan *plan,
                                     const tacit_plan *silent, const tacit_stream *stream, bool exactly,
                                     tacit_session *session, tacit_error *error) {
    tacit_stream fixed = tacit_stream_from_seed(0);
    TACIT_TRY(tacit_local_draw_exactly(self->local[side], stream != NULL && exactly, error));
    return stream != NULL ? tacit_local_begin(self->local[side], plan, stream, NULL, session, error)
                          : tacit_local_begin(self->local[side], silent, &fixed, NULL, session, error);
}

void tacit_turned_rows_clear(tacit_turned_rows *self) {
    for (int side = 0; side < 2; side++) {
        tacit_local_free(self->local[side]);
        tacit_dataset_free(self->data[side]);
    }
    tacit_split_free(self->split);
    *self = (tacit_turned_rows){ .split = NULL };
}
