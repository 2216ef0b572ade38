/* The network's gradient is the derivative of its loss, and a block's is the sum of its rows'. */
#include "classes.h"

#include "model/network.h"

enum { ROWS = 20, FEATURES = 6 };

static double loss_at(const tacit_network *network, const double *parameters, const tacit_view *rows,
                      tacit_network_space *space, double *scratch) {
    return tacit_network_backward(network, parameters, rows, space, scratch);
}

static void check_gradient(size_t classes, size_t layers, bool sparse, tacit_activation activation) {
    classes_set set = classes_clouds(ROWS, FEATURES, classes, 0.5, 31);
    tacit_view rows = classes_view(&set, sparse);
    tacit_network network = { .layers = layers, .width = { FEATURES, 5, 3 }, .activation = activation };
    network.width[layers] = tacit_network_outputs(classes);
    static const double gain[] = { 1, 1, 1 };
    size_t size = tacit_network_size(&network);
    double *parameters = calloc(size, sizeof(double)), *gradient = calloc(size, sizeof(double)),
           *scratch = calloc(size, sizeof(double)), *by_row = calloc(size, sizeof(double));
    tacit_network_space *space = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(32);
    CHECK_OK(tacit_network_space_create(&space, &network, &error), error);
    tacit_network_start(&network, gain, &stream, parameters);
    for (size_t l = 0; l < layers; l++)
        for (size_t u = 0; u < network.width[l + 1]; u++)
            parameters[tacit_network_biases_at(&network, l) + u] = 0.1 * (double)(u + 1);
    double loss = loss_at(&network, parameters, &rows, space, gradient), sum = 0;
    for (size_t i = 0; i < ROWS; i++) {
        tacit_view row = tacit_view_slice(&rows, i, 1);
        sum += loss_at(&network, parameters, &row, space, by_row);
    }
    CHECK_NEAR(sum, loss, 1e-12);
    for (size_t p = 0; p < size; p++) {
        double kept = parameters[p], step = 1e-5;
        parameters[p] = kept + step;
        double above = loss_at(&network, parameters, &rows, space, scratch);
        parameters[p] = kept - step;
        double below = loss_at(&network, parameters, &rows, space, scratch);
        parameters[p] = kept;
        CHECK_NEAR(gradient[p], (above - below) / (2 * step), 1e-7);
        CHECK_NEAR(by_row[p], gradient[p], 1e-12);
    }
    tacit_network_space_free(space);
    free(parameters);
    free(gradient);
    free(scratch);
    free(by_row);
    classes_clear(&set);
}

static void the_gradient_is_the_derivative(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 4; classes += 2)
        for (size_t layers = 1; layers <= 3; layers++)
            for (int sparse = 0; sparse < 2; sparse++)
                for (int activation = 0; activation < TACIT_ACTIVATIONS; activation++)
                    check_gradient(classes, layers, sparse, activation);
}

/* Scores so large that exp overflows lose nothing. */
static void the_loss_is_right_far_out(void **state) {
    (void)state;
    static const double weights[] = { 5000, 0, /* logistic */
                                      5000, -5000, 1, 0, 0, 0 };
    classes_set set = classes_make(2, 1, 3);
    set.dense.values[0] = set.dense.values[1] = 1;
    set.label[1] = 1;
    tacit_view rows = classes_view(&set, false);
    tacit_network two = { .layers = 1, .width = { 1, 1 } }, three = { .layers = 1, .width = { 1, 3 } };
    tacit_network_space *space = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    double gradient[6] = { 0 };
    CHECK_OK(tacit_network_space_create(&space, &three, &error), error);
    CHECK_NEAR(tacit_network_backward(&two, weights, &rows, space, gradient), 5000, 1e-9);
    CHECK_NEAR(gradient[0], 1, 1e-12);
    memset(gradient, 0, sizeof gradient);
    CHECK_NEAR(tacit_network_backward(&three, weights + 2, &rows, space, gradient), 10000, 1e-9);
    CHECK_NEAR(gradient[0], 1, 1e-12);
    CHECK_NEAR(gradient[1], -1, 1e-12);
    tacit_network_space_free(space);
    assert_null(tacit_network_space_free(NULL));
    classes_clear(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_the_derivative),
        cmocka_unit_test(the_loss_is_right_far_out),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
