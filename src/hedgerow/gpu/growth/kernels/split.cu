// The best split of a node, and its rows moved to the children.

// All splits of a column, or for one of categories the one that is drawn.
template <class Search>
DEVICE void search_all(const Growth& g, const Team& team, const NodeRows& node, i32 feature, bool draws, double draw) {
    const bool by_category = g.has_categories[feature];
    Search::read(g, team, node, feature);
    const u32 n = Search::score_all(g, team, node, by_category);
    if (team.rank == 0) {
        if (by_category && draws) {
            u32 n_present = 0, number = 0;
            Search::for_each(team, n, [&](const Candidate&) { ++n_present; });
            const u32 chosen = n_present ? drawn_index(n_present, draw) : 0;
            Search::for_each(team, n, [&](const Candidate& candidate) {
                if (number++ == chosen && judge(g, team, feature, node.tolerance, candidate))
                    set_category(*team.best, candidate.code);
            });
        } else {
            Search::for_each_top(team, n, [&](const Candidate& candidate, u32 next) {
                if (!judge(g, team, feature, node.tolerance, candidate)) return;
                if (by_category)
                    set_category(*team.best, candidate.code);
                else
                    set_threshold(g, *team.best, candidate.code, next);
            });
        }
    }
    team.sync();
}

// The columns that a node tries, in the order of its draws: core/grow/binned/tried_features.hpp.
template <class Search>
DEVICE void find_split(const Growth& g, const Team& team, const NodeRows& node) {
    const i32 tree = g.tree[node.node];
    const bool draws_split = g.draws_splits == 1 || (g.draws_splits == 2 && tree % 2 == 1);
    const i64 n_tried = draws_split ? g.n_tried_drawn : g.n_tried;
    const bool all = n_tried == 0 || n_tried >= g.n_features;
    if (team.rank == 0) {
        team.best->feature = -1;
        team.best->value = -infinity();
    }
    if (!all)
        for (i64 i = team.rank; i < g.n_features; i += team.size) team.order[i] = (u16)i;
    team.sync();
    Draws draws(g.key[node.node]);
    for (i64 i = 0; i < g.n_features; ++i) {
        if (!all && i >= n_tried && team.best->feature >= 0) break;
        i32 feature = (i32)i;
        if (!all) {
            const i64 other = i + (i64)draws.below(g.n_features - i);
            feature = team.order[other];
            const u16 own = team.order[i];
            team.sync();  // all have read
            if (team.rank == 0) team.order[other] = own;
        }
        const double draw = draws_split ? draws.real() : 0;
        if (!draws_split || g.has_categories[feature])
            search_all<Search>(g, team, node, feature, draws_split, draw);
        else
            Search::search_drawn(g, team, node, feature, draw);
    }
}

// -- the split applied: core/grow/binned/apply_split.hpp, in any order of rows

DEVICE bool goes_left(const Growth& g, const Best& best, u64 key, u32 code, u32 row) {
    if (code == missing_code && best.missing)
        return as_real(draw_at(child_key(key, (u64{1} << 32) + row), 0)) < best.share_left;
    return best.kind == kind_threshold ? code <= best.last_left : code == best.last_left;
}

DEVICE void move_rows(const Growth& g, const Team& team, const NodeRows& node) {
    if (team.rank == 0) team.notes->moved[0] = team.notes->moved[1] = 0;
    for (u32 k = team.rank; k < g.n_classes + 1; k += team.size) team.left[k] = 0;
    team.sync();
    const Best best = *team.best;
    const u64 key = g.key[node.node];
    Row* moved = g.other_rows + node.begin;
    u32 both[2] = {0, 0};
    for_each_row(g, team, node, best.feature, [&](const Row& row, u32 code) {
        const bool left = goes_left(g, best, key, code, row.row);
        const u32 place = next_place(team.notes->moved + !left);
        moved[left ? place : node.n - 1 - place] = row;
        if (!left) return;
        if (g.n_classes != 2) {
            add_to(team.left + row.label, row.drawn);
        } else {
            both[0] += row.label ? 0 : row.drawn;
            both[1] += row.label ? row.drawn : 0;
        }
    });
    if (g.n_classes == 2) {
        add_all(team, team.left, both[0]);
        add_all(team, team.left + 1, both[1]);
    }
    team.sync();
    for (u32 k = team.rank; k < g.n_classes; k += team.size)
        g.left_counts[(u64)node.node * g.n_classes + k] = team.left[k];
    if (team.rank == 0) {
        g.n_left[node.node] = team.notes->moved[0];
        g.feature[node.node] = best.feature;
        g.threshold[node.node] = best.threshold;
        g.kind[node.node] = best.kind;
    }
}

DEVICE NodeRows node_rows(const Growth& g, u32 node, const Row* rows) {
    const u32* counts = g.counts + (u64)node * g.n_classes;
    const double weight = weight_of(g, counts);
    const u32 begin = g.begin[node];
    return {node,   begin,  g.end[node] - begin,         rows ? rows : g.rows + begin,
            counts, weight, tolerance_of_weight * weight};
}

template <class Search>
DEVICE void split(const Growth& g, const Team& team, const NodeRows& node) {
    find_split<Search>(g, team, node);
    const Best& best = *team.best;
    const double least = g.least_decrease * (double)g.tree_weight[g.tree[node.node]];
    if (best.feature >= 0 && best.value + node.tolerance >= least) move_rows(g, team, node);
}

// Memory of a team within that of its block, in bytes a multiple of 8; hedgerow.gpu.growth.launch knows the size.
DEVICE Team team_memory(const Growth& g, double* memory, u32 rank, u32 size, u32 mask, u32 n_candidates, u32 n_cells) {
    Team team{};
    team.rank = rank;
    team.size = size;
    team.mask = mask;
    team.candidates = reinterpret_cast<Candidate*>(memory);
    team.best = reinterpret_cast<Best*>(team.candidates + n_candidates);
    team.notes = reinterpret_cast<Notes*>(team.best + 1);
    team.rows = reinterpret_cast<Row*>(team.notes + 1);
    team.cells = reinterpret_cast<u32*>(team.rows + (mask ? n_candidates : 0));
    team.known = team.cells + n_cells;
    team.left = team.known + g.n_classes + 1;
    team.present = team.left + g.n_classes + 1;
    team.chosen = team.present + n_codes / 32;
    team.order = reinterpret_cast<u16*>(team.chosen + n_codes / 32);
    return team;
}

// Nodes of a few rows: some threads of a warp each.
KERNEL(split_small)(const Growth* launch) {
    SHARED(memory);
    const Growth& g = *launch;
    const u32 size = (u32)g.team, rank = threadIdx.x % size, number = threadIdx.x / size;
    const u64 listed = (u64)blockIdx.x * (blockDim.x / size) + number;
    if (listed >= (u64)g.n_teams) return;
    const u32 here = threadIdx.x % 32 / size * size;
    const u32 mask = (size == 32 ? ~0u : (1u << size) - 1) << here;
    const u32 capacity = (u32)g.capacity;
    const Team team = team_memory(g, memory + number * g.team_bytes / 8, rank, size, mask, capacity, capacity);
    const NodeRows far = node_rows(g, g.listed[listed], nullptr);
    for (u32 i = rank; i < far.n; i += size) team.rows[i] = far.rows[i];
    team.sync();
    split<FewRows>(g, team, node_rows(g, far.node, team.rows));
}

// Nodes of many rows: a block each.
KERNEL(split_large)(const Growth* launch) {
    SHARED(memory);
    const Growth& g = *launch;
    const u32 n_cells = (u32)(g.n_classes + 1) * n_codes;
    const Team team = team_memory(g, memory, threadIdx.x, blockDim.x, 0, n_codes, n_cells);
    split<ManyRows>(g, team, node_rows(g, g.listed[blockIdx.x], nullptr));
}
