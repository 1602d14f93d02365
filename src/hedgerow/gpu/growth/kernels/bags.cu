// Rows drawn for each tree: core/grow/bootstrap.hpp.

DEVICE u64 row_of_weight(const Growth& g, double draw) {
    const double at = draw * g.cumulated[g.n_rows - 1];
    i64 first = 0, n = g.n_rows;  // the first row whose sum is greater
    while (n > 0) {
        const i64 half = n / 2;
        if (at < g.cumulated[first + half]) {
            n = half;
        } else {
            first += half + 1;
            n -= half + 1;
        }
    }
    return first < g.n_rows ? first : g.n_rows - 1;
}

// All draws of all trees at once, each at the position that it has if none is rejected.
KERNEL(draw_rows)(const Growth* launch) {
    const Growth& g = *launch;
    const u64 n = g.n_trees * g.n_draws;
    for (u64 i = thread_number(); i < n; i += n_threads()) {
        const u64 tree = i / g.n_draws;
        const u64 draw = draw_at(g.draw_keys[tree], i % g.n_draws);
        if (!g.cumulated && is_rejected(draw, g.n_rows)) g.redrawn[tree] = 1;
        const u64 row = g.cumulated ? row_of_weight(g, as_real(draw)) : draw % g.n_rows;
        add_to(g.draws + tree * g.n_rows + row, 1);
    }
}

// The trees among whose draws one was rejected, of which there is hardly ever one: a thread each.
KERNEL(draw_rows_again)(const Growth* launch) {
    const Growth& g = *launch;
    const u64 tree = thread_number();
    if (tree >= (u64)g.n_trees || !g.redrawn[tree]) return;
    u32* drawn = g.draws + tree * g.n_rows;
    for (i64 row = 0; row < g.n_rows; ++row) drawn[row] = 0;
    Draws draws(g.draw_keys[tree]);
    for (i64 i = 0; i < g.n_draws; ++i) ++drawn[draws.below(g.n_rows)];
}

// Lists the drawn rows, tree after tree: some rows of a tree for each block.
KERNEL(list_drawn)(const Growth* launch) {
    const Growth& g = *launch;
    const i64 n_parts = gridDim.x / g.n_trees, tree = blockIdx.x / n_parts, part = blockIdx.x % n_parts;
    for (i64 row = part * blockDim.x + threadIdx.x; row < g.n_rows; row += n_parts * blockDim.x) {
        const u32 drawn = g.draws[tree * g.n_rows + row];
        if (drawn > 0) g.rows[g.places[tree * g.n_rows + row] - 1] = {(u32)row, (u16)drawn, (u16)g.labels[row]};
    }
}

// The draws of each class, tree after tree, and as many blocks for each.
KERNEL(count_classes)(const Growth* launch) {
    const Growth& g = *launch;
    const i64 n_parts = gridDim.x / g.n_trees, tree = blockIdx.x / n_parts, part = blockIdx.x % n_parts;
    Team team{};
    team.rank = threadIdx.x % 32;
    team.size = 32;
    team.mask = ~0u;
    for (i64 k = 0; k < g.n_classes; ++k) {
        u32 sum = 0;
        for (i64 row = part * blockDim.x + threadIdx.x; row < g.n_rows; row += n_parts * blockDim.x)
            sum += g.labels[row] == k ? g.draws[tree * g.n_rows + row] : 0;
        add_all(team, g.counts + tree * g.n_classes + k, sum);
    }
}
