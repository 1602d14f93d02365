// A level of all trees, and the next.

// Lists the nodes that are large enough, and not of one class, by their number of rows.
KERNEL(list_nodes)(const Growth* launch) {
    const Growth& g = *launch;
    const u64 node = thread_number();
    if (node >= (u64)g.n_nodes) return;
    g.feature[node] = -1;
    g.kind[node] = kind_leaf;
    const u32 n = g.end[node] - g.begin[node];
    u32 n_present = 0;
    for (i64 k = 0; k < g.n_classes; ++k) n_present += g.counts[node * g.n_classes + k] > 0;
    if (n_present < 2 || (double)n < g.least_rows) return;
    i64 list = 0;
    while (n > g.limits[list]) ++list;
    g.lists[list * g.n_nodes + next_place(g.n_listed + list)] = (u32)node;
}

KERNEL(make_children)(const Growth* launch) {
    const Growth& g = *launch;
    const u64 node = thread_number();
    if (node >= (u64)g.n_nodes || g.feature[node] < 0) return;
    const u64 first = 2 * (u64)(g.n_split_before[node] - 1);
    const u32 middle = g.begin[node] + g.n_left[node];
    g.child_begin[first] = g.begin[node];
    g.child_end[first] = g.child_begin[first + 1] = middle;
    g.child_end[first + 1] = g.end[node];
    for (u64 child = 0; child < 2; ++child) {
        g.child_key[first + child] = child_key(g.key[node], child);
        g.child_tree[first + child] = g.tree[node];
    }
    for (i64 k = 0; k < g.n_classes; ++k) {
        const u32 left = g.left_counts[node * g.n_classes + k];
        g.child_counts[first * g.n_classes + k] = left;
        g.child_counts[(first + 1) * g.n_classes + k] = g.counts[node * g.n_classes + k] - left;
    }
}

// Sums of class frequencies over the trees whose bag a row is not in, were all nodes lighter than a size leaves:
// (n_sizes, n_walked, n_classes). In the order of the trees, as on the CPU.
KERNEL(fold_unseen)(const Growth* launch) {
    const Growth& g = *launch;
    const u64 walked = thread_number();
    if (walked >= (u64)g.n_walked) return;
    const double* x = g.X + walked * g.n_features;
    const i64 row = g.row_numbers[walked];
    double n_unseen = 0;
    for (i64 tree = 0; tree < g.n_trees; ++tree) {
        if (row >= 0 && g.draws[tree * g.n_rows + row] > 0) continue;  // negative: in no bag
        n_unseen += 1;
        i64 node = tree;  // roots come first
        for (i64 size = 0; size < g.n_sizes;) {
            const i32 feature = g.feature[node];
            const double weight = g.node_weight[node];
            for (; size < g.n_sizes && (feature < 0 || weight < g.sizes[size] - 1e-9); ++size) {
                double* folded = g.folded + (size * g.n_walked + walked) * g.n_classes;
                for (i64 k = 0; k < g.n_classes; ++k) folded[k] += g.counts[node * g.n_classes + k] / weight;
            }
            if (feature < 0) break;
            const double value = x[feature];
            const bool left = g.kind[node] == kind_threshold ? value <= g.threshold[node] : value == g.threshold[node];
            node = g.first_child[node] + !left;
        }
    }
    g.n_unseen[walked] = n_unseen;
}
