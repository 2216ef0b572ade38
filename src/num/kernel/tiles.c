#include "num/kernel/tiles.h"

#include <math.h>

enum {
    PANEL = TACIT_KERNEL_PANEL,
    TILE = PANEL * PANEL,
    PACKED_ROWS = 96 /* two panels of them fit in a first-level cache of 32 KiB */
};

static size_t panels_of(size_t cols) { return (cols + PANEL - 1) / PANEL; }

size_t tacit_tiles_length(size_t cols) { return panels_of(cols) * (panels_of(cols) + 1) / 2 * TILE; }

size_t tacit_tiles_room(size_t cols) { return PACKED_ROWS * (1 + PANEL * panels_of(cols)); }

void tacit_tiles_add(const tacit_kernels *kernels, const double *const *x, const double *c, size_t rows,
                     size_t cols, double *room, double *tiles) {
    double *scale = room, *packed = room + PACKED_ROWS;
    const double *kept_row[PACKED_ROWS];
    for (size_t i = 0; i < rows;) {
        size_t kept = 0;
        for (; i < rows && kept < PACKED_ROWS; i++)
            if (c[i] > 0) {
                kept_row[kept] = x[i];
                scale[kept++] = sqrt(c[i]);
            }
        if (kept == 0) continue;
        kernels->pack_rows(kept_row, kept, cols, scale, packed);
        kernels->add_tiles(kept, panels_of(cols), packed, tiles);
    }
}

void tacit_tiles_add_floats(const tacit_kernels *kernels, const float *x, size_t stride, const double *scale,
                            size_t rows, double *room, double *tiles) {
    for (size_t i = 0; i < rows; i += PACKED_ROWS) {
        size_t here = rows - i < PACKED_ROWS ? rows - i : PACKED_ROWS;
        kernels->pack_floats(x + i * stride, here, stride, scale + i, room);
        kernels->add_tiles(here, stride / PANEL, room, tiles);
    }
}

double tacit_tiles_at(const double *tiles, size_t cols, size_t i, size_t j) {
    size_t low = i < j ? i : j, high = i < j ? j : i, p = low / PANEL, q = high / PANEL;
    /* tiles (r, s), r < p, and (p, s), s < q: before + q */
    size_t before = p * panels_of(cols) - p * (p + 1) / 2;
    return tiles[(before + q) * TILE + PANEL * (low % PANEL) + high % PANEL];
}
