/* The network's gradient is the derivative of its loss, and a block's is the sum of its rows'. */
#include "classes.h"

#include "model/network.h"

enum { ROWS = 20, FEATURES = 6 };

static double loss_at(const tacit_network *network, const double *parameters, const tacit_view *rows,
                      tacit_network_space *space, double *scratch) {
    return tacit_network_backward(network, parameters, rows, space, scratch);
}

/* Of a network of any layers, at random parameters. */
static void check_network(const tacit_network *given, size_t classes, bool sparse) {
    const tacit_network network = *given;
    classes_set set = classes_clouds(ROWS, network.width[0], classes, 0.5, 31);
    tacit_view rows = classes_view(&set, sparse);
    double gain[TACIT_NETWORK_LAYERS];
    for (size_t l = 0; l < network.layers; l++) gain[l] = 1;
    size_t size = tacit_network_size(&network);
    double *parameters = calloc(size, sizeof(double)), *gradient = calloc(size, sizeof(double)),
           *scratch = calloc(size, sizeof(double)), *by_row = calloc(size, sizeof(double));
    tacit_network_space *space = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(32);
    CHECK_OK(tacit_network_space_create(&space, &network, &error), error);
    tacit_network_start(&network, gain, &stream, parameters);
    for (size_t l = 0; l < network.layers; l++)
        for (size_t u = 0; u < tacit_network_weight_rows(&network, l); u++)
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

static void check_gradient(size_t classes, size_t layers, bool sparse, tacit_activation activation) {
    tacit_network network = { .layers = layers, .width = { FEATURES, 5, 3 }, .activation = activation };
    network.width[layers] = tacit_network_outputs(classes);
    check_network(&network, classes, sparse);
}

static void the_gradient_is_the_derivative(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 4; classes += 2)
        for (size_t layers = 1; layers <= 3; layers++)
            for (int sparse = 0; sparse < 2; sparse++)
                for (int activation = 0; activation < TACIT_ACTIVATIONS; activation++)
                    check_gradient(classes, layers, sparse, activation);
}

static tacit_network parsed(const char *hidden, const char *shape, tacit_activation activation,
                            size_t features, size_t classes) {
    tacit_network network;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_network_parse(&network, hidden, shape, activation, features, classes, &error), error);
    return network;
}

static void the_gradient_is_the_derivative_in_layers_with_a_shape(void **state) {
    (void)state;
    static const struct {
        const char *hidden, *shape;
        size_t features;
    } cases[] = { { "conv:3x3", "4x5", 20 },
                  { "conv:2x2/2,3", "5x4x2", 40 },
                  { "pool:2,conv:2x3,4", "6x6", 36 },
                  { "conv:3x4/2,pool:2/1,conv:2x2,3", "6x7", 42 },
                  { "gru:3", "4x3", 12 },
                  { "conv:2x3,gru:3,4", "4x3", 12 },
                  { "pool:3/2", "7x7", 49 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t classes = 2; classes <= 3; classes++) {
            tacit_activation activation = i % 2 == 0 ? TACIT_ACTIVATION_TANH : TACIT_ACTIVATION_SIGMOID;
            tacit_network network =
                parsed(cases[i].hidden, cases[i].shape, activation, cases[i].features, classes);
            check_network(&network, classes, i % 3 == 0);
        }
}

/* The scores of one row. */
static void scores_of(const tacit_network *network, const double *parameters, const double *row,
                      double *out) {
    tacit_network_space *space = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_rows rows = { .count = 1, .cols = network->width[0], .dense = row, .stride = network->width[0] };
    CHECK_OK(tacit_network_space_create(&space, network, &error), error);
    memcpy(out, tacit_network_forward(network, parameters, &rows, space),
           network->width[network->layers] * sizeof *out);
    tacit_network_space_free(space);
}

/* By hand: a filter of side 3 that is 1 in its middle and 10 to the right of it, on 1 2 / 3 4, with a zero
 * beside the picture; then the largest, through weights of 1. */
static void windows_see_what_they_should(void **state) {
    (void)state;
    const double picture[] = { 1, 2, 3, 4 };
    double score;
    tacit_network network = parsed("conv:1x3", "2x2", TACIT_ACTIVATION_RELU, 4, 2);
    double parameters[9 + 1 + 4 + 1] = { 0, 0, 0, 0, 1, 10, 0, 0, 0, 0.5, 1, 100, 1e4, 1e6, 7 };
    assert_int_equal(tacit_network_size(&network), 15);
    scores_of(&network, parameters, picture, &score);
    CHECK_NEAR(score, 21.5 + 100 * 2.5 + 1e4 * 43.5 + 1e6 * 4.5 + 7, 1e-9);
    network = parsed("pool:2", "2x2", TACIT_ACTIVATION_RELU, 4, 2);
    scores_of(&network, (const double[]){ 3, 1 }, picture, &score);
    CHECK_NEAR(score, 3 * 4 + 1, 1e-12);
    const double channels[] = { 1, 8, 2, 7, 3, 6, 4, 5 }; /* two of them, side by side */
    network = parsed("pool:2", "2x2x2", TACIT_ACTIVATION_RELU, 8, 2);
    scores_of(&network, (const double[]){ 1, 100, 0 }, channels, &score);
    CHECK_NEAR(score, 4 + 800, 1e-12);
}

/* By hand: one unit, two steps. */
static void a_recurrent_layer_follows_its_equations(void **state) {
    (void)state;
    const double row[] = { 0.3, -0.7 };
    const double p[] = { 0.5,
                         0.4,
                         /* z: of x, of h */ -0.6,
                         0.9,
                         /* r */ 1.1,
                         -0.8, /* n */
                         0.1,
                         -0.2,
                         0.3,
                         /* biases */ 2,
                         0.25 };
    tacit_network network = parsed("gru:1", "2x1", TACIT_ACTIVATION_TANH, 2, 2);
    double h = 0, score;
    assert_int_equal(tacit_network_size(&network), sizeof p / sizeof *p);
    for (int t = 0; t < 2; t++) {
        double z = 1 / (1 + exp(-(p[0] * row[t] + p[1] * h + p[6])));
        double r = 1 / (1 + exp(-(p[2] * row[t] + p[3] * h + p[7])));
        double n = tanh(p[4] * row[t] + p[8] + r * (p[5] * h));
        h = (1 - z) * n + z * h;
    }
    scores_of(&network, p, row, &score);
    CHECK_NEAR(score, 2 * h + 0.25, 1e-12);
}

static void a_scale_of_rows_goes_into_the_parameters(void **state) {
    (void)state;
    static const char *const hidden[] = { "3", "conv:2x2,3", "pool:2,conv:2x2", "gru:3" };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        tacit_network network = parsed(hidden[i], "4x4", TACIT_ACTIVATION_TANH, 16, 2);
        double row[16], scaled[16], gain[TACIT_NETWORK_LAYERS], before, after;
        double *parameters = calloc(tacit_network_size(&network), sizeof(double));
        tacit_stream stream = tacit_stream_from_seed(33);
        tacit_network_gains(&network, 4, gain);
        tacit_network_start(&network, gain, &stream, parameters);
        for (size_t j = 0; j < 16; j++) scaled[j] = 2.5 * (row[j] = cos((double)j));
        scores_of(&network, parameters, scaled, &before);
        tacit_network_scale_rows(&network, 2.5, parameters);
        scores_of(&network, parameters, row, &after);
        CHECK_NEAR(after, before, 1e-12);
        free(parameters);
    }
}

static void layers_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        { "conv:3x3", "" },     { "gru:3", "" },           { "conv:3x3", "4x5" },
        { "conv:3x3", "4xx4" }, { "conv:3x3", "4" },       { "conv:3", "4x4" },
        { "conv:0x3", "4x4" },  { "conv:3x3/2/2", "4x4" }, { "pool:5", "4x4" },
        { "pool:2/0", "4x4" },  { "5,conv:3x3", "4x4" },   { "gru:3,gru:3", "4x4" },
        { "gru:0", "4x4" },     { "conv:3x3/", "4x4" },    { "conv:3x3,", "4x4" },
        { "conv:3x3 ", "4x4" }, { "gru:3,pool:1", "4x4" }, { "conv:60000x3", "4x4" },
        { "cnv:3x3", "4x4" },   { "pool", "4x4" },         { "conv:3x3", "70000x70000" },
        { "conv:3x3", "4x4x" }
    };
    tacit_network network;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(
            tacit_network_parse(&network, wrong[i][0], wrong[i][1], TACIT_ACTIVATION_TANH, 16, 2, &error),
            TACIT_USAGE);
        assert_true(strlen(error.text) > 20);
    }
    /* Few parameters, and more memory for their windows or steps than any machine has. */
    static const char *const large[][2] = { { "pool:745/1", "1000x1000" }, { "gru:1000", "62500x16" } };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        assert_int_equal(
            tacit_network_parse(&network, large[i][0], large[i][1], TACIT_ACTIVATION_TANH, 1000000, 2, NULL),
            TACIT_USAGE);
    network = parsed("conv:4x3/2,pool:2,gru:5,6", "16x16", TACIT_ACTIVATION_TANH, 256, 3);
    static const char *const names[] = { "conv:4x3/2", "pool:2/2", "gru:5", "6" };
    char name[TACIT_LAYER_NAME];
    for (size_t l = 0; l < 4; l++) {
        tacit_network_layer_name(&network, l, name);
        assert_string_equal(name, names[l]);
    }
    tacit_network_shape_name(&network, name);
    assert_string_equal(name, "16x16x1");
    tacit_network other = parsed("conv:4x3/2,pool:2,gru:5,6", "16x8x2", TACIT_ACTIVATION_TANH, 256, 3);
    assert_true(tacit_network_same(&network, &network));
    assert_false(tacit_network_same(&network, &other));
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
        cmocka_unit_test(the_gradient_is_the_derivative_in_layers_with_a_shape),
        cmocka_unit_test(windows_see_what_they_should),
        cmocka_unit_test(a_recurrent_layer_follows_its_equations),
        cmocka_unit_test(a_scale_of_rows_goes_into_the_parameters),
        cmocka_unit_test(layers_that_do_not_fit_are_refused),
        cmocka_unit_test(the_loss_is_right_far_out),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
