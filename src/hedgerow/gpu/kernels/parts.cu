// Rows that reach several leaves of a tree: parts of a row with weights, as core/walk/tree_spread.hpp has them.

// Few leaves, ascending: in memory of the thread.
struct FewParts {
    i32 leaf[N_PARTS], slot[N_PARTS];
    double weight[N_PARTS], waiting[N_PARTS];
    i32 n, n_waiting;

    DEVICE void clear() { n = n_waiting = 0; }
    DEVICE bool add_leaf(i32 number, double part) {
        if (n == N_PARTS) return false;
        i32 i = n++;
        for (; i > 0 && leaf[i - 1] > number; --i) {
            leaf[i] = leaf[i - 1];
            weight[i] = weight[i - 1];
        }
        leaf[i] = number;
        weight[i] = part;
        return true;
    }
    DEVICE bool push(i32 at, double part) {
        if (n_waiting == N_PARTS) return false;
        slot[n_waiting] = at;
        waiting[n_waiting++] = part;
        return true;
    }
    DEVICE bool pop(i32& at, double& part) {
        if (n_waiting == 0) return false;
        at = slot[--n_waiting];
        part = waiting[n_waiting];
        return true;
    }
    template <class Use>
    DEVICE void take_each(const Use& use) {
        for (i32 i = 0; i < n; ++i) use(leaf[i], weight[i]);
        n = 0;
    }
};

// As many as a tree has leaves: few in memory of the thread, and more in scratch, with a bit for each leaf that is reached.
// Most trees of a row with many leaves somewhere have few, and the scan of the bits takes longer than their walk.
struct ManyParts {
    FewParts few;
    double* weight;
    u32* bits;
    i32* slot;
    double* waiting;
    i32 n_words, n_waiting;
    bool are_many;

    DEVICE ManyParts(const Walk& w, i64 thread)
        : weight(w.leaf_weight + thread * w.most_leaves),
          bits(w.leaf_bits + thread * ((w.most_leaves + 31) / 32)),
          slot(w.waiting_slot + thread * w.most_leaves),
          waiting(w.waiting_weight + thread * w.most_leaves),
          n_words(i32((w.most_leaves + 31) / 32)) {
        for (i32 i = 0; i < n_words; ++i) bits[i] = 0;
        clear();
    }
    DEVICE void clear() {
        few.clear();
        n_waiting = 0;
        are_many = false;
    }
    DEVICE void mark(i32 number, double part) {
        weight[number] = part;
        bits[number / 32] |= 1u << (number % 32);
    }
    DEVICE bool add_leaf(i32 number, double part) {
        if (!are_many && few.add_leaf(number, part)) return true;
        few.take_each([&](i32 leaf, double share) { mark(leaf, share); });
        are_many = true;
        mark(number, part);
        return true;
    }
    DEVICE bool push(i32 at, double part) {
        if (n_waiting == 0 && few.push(at, part)) return true;
        slot[n_waiting] = at;
        waiting[n_waiting++] = part;
        return true;
    }
    DEVICE bool pop(i32& at, double& part) {
        if (n_waiting == 0) return few.pop(at, part);
        at = slot[--n_waiting];
        part = waiting[n_waiting];
        return true;
    }
    template <class Use>
    DEVICE void take_each(const Use& use) {
        few.take_each(use);
        if (!are_many) return;
        are_many = false;
        for (i32 i = 0; i < n_words; ++i) {
            u32 left = bits[i];
            bits[i] = 0;
            for (i32 leaf = 32 * i; left; ++leaf, left >>= 1)
                if (left & 1) use(leaf, weight[leaf]);
        }
    }
};

DEVICE double apply_link(u64 link, double value) {
    if (link == link_log) return log(value);
    if (link == link_entropy) return value > 0 ? -value * log2(value) : 0.0;
    return value;
}

// The fold of a row: the mean of the leaves before the link, as averages of logarithms would be wrong.
struct FoldSink {
    double folded[N_COLUMNS];

    DEVICE void start(const Walk& w, i64 row) { start_fold(w, row, w.resume, folded); }
    template <class Parts>
    DEVICE void end_tree(const Walk& w, i64 row, i64 tree, bool was_spread, Parts& parts) {
        double mean[N_COLUMNS];
#pragma unroll
        for (int c = 0; c < N_COLUMNS; ++c) mean[c] = 0;
        const u32* const row_of = w.row_of;
        const i64 first_leaf = w.first_leaf[tree];
        parts.take_each([&](i32 leaf, double share) {
            const i64 at = (row_of ? row_of[first_leaf + leaf] : first_leaf + leaf) * w.table_stride;
            const double* const values = (was_spread ? w.values : w.linked) + at;
#pragma unroll
            for (int c = 0; c < N_COLUMNS; ++c) mean[c] = was_spread ? mean[c] + share * values[c] : values[c];
        });
        if (skipped(w, tree, row)) return;
        if (was_spread && w.links)
#pragma unroll
            for (int c = 0; c < N_COLUMNS; ++c) mean[c] = apply_link(four_bits(w.links, c), mean[c]);
        add(w, row, tree, mean, folded);
    }
    DEVICE void end(const Walk& w, i64 row) {
        if (!w.tree_stride) end_fold(w, row, folded);
    }
};

// Leaves and weights of a row, or how many they are.
struct ReachedSink {
    i64 n;

    DEVICE void start(const Walk& w, i64 row) { n = w.row_start ? w.row_start[row] : 0; }
    template <class Parts>
    DEVICE void end_tree(const Walk& w, i64 row, i64 tree, bool was_spread, Parts& parts) {
        parts.take_each([&](i32 leaf, double share) {
            if (w.row_start) {
                w.reached[n] = w.first_leaf[tree] + leaf;
                w.reached_weight[n] = share;
            }
            ++n;
        });
    }
    DEVICE void end(const Walk& w, i64 row) {
        if (!w.row_start) w.n_reached[row] = n;
    }
};

// Takes rows from a list until there are none. Each thread goes on by itself: threads that waited for each other at the
// end of each tree would all take as long as the row with the most parts.
template <class Keys, class Parts, class Sink>
DEVICE void walk_parts(const Walk& w, const u32* list, Counter n_listed, Counter next, Keys keys, Parts& parts,
                       Sink& sink) {
    const u32 n = w.counters[n_listed];
    for (u32 i = add_one(w.counters + next); i < n; i = add_one(w.counters + next)) {
        const i64 row = list[i];
        const double* const x = w.X + row * w.n_features;
        keys.read(w, row);
        parts.clear();
        sink.start(w, row);
        i64 tree = 0, root = w.root_node[0];
        i32 at = w.root_slot[0];
        double weight = 1;
        bool was_spread = false, fits = true;
        while (fits) {
            bool waits = false;  // for a value that is missing
#pragma unroll 1
            for (int step = 0; step < 4 && !waits; ++step) {
                const Slot slot = load(w.slots + at);
                if (!to_child_of(slot)) break;
                const u32 key = keys[column_of(slot)];
                waits = key == missing_key;
                if (waits) break;
                const bool right = key == slot.key ? exceeds(w, root, w.places[at], x) : key > slot.key;
                at += to_child_of(slot) + right;
            }
            if (!waits && to_child_of(load(w.slots + at))) continue;
            const i32 place = w.places[at];
            if (place < 0) {
                const i32 next_at = next_slot(w, root, place, x);
                if (next_at != no_slot) {
                    at = next_at;
                    continue;
                }
                was_spread = true;
                const i64 node = root + node_of_place(place), first = root + w.nodes[node].first_child;
                const i32 n_children = w.n_children[node];
                for (i32 child = n_children - 1; child >= 0 && fits; --child) {
                    const double part = w.shares[first + child] * weight;
                    if (part > 0) fits = parts.push(w.slot_of_node[first + child], part);
                }
            } else {
                fits = parts.add_leaf(place, weight);
            }
            if (!fits || parts.pop(at, weight)) continue;
            sink.end_tree(w, row, tree, was_spread, parts);
            if (++tree == w.n_trees) break;
            root = w.root_node[tree];
            at = w.root_slot[tree];
            weight = 1;
            was_spread = false;
        }
        if (fits)
            sink.end(w, row);
        else
            w.large[add_one(w.counters + n_large)] = u32(row);
    }
}

KERNEL(fold_parts)(const Walk* const walk) {
    SHARED(shared_keys);
    FewParts parts;
    FoldSink sink;
    walk_parts(*walk, walk->spread, n_spread, next_spread, SharedKeys{shared_keys + threadIdx.x}, parts, sink);
}

KERNEL(fold_parts_of_many_columns)(const Walk* const walk) {
    FewParts parts;
    FoldSink sink;
    walk_parts(*walk, walk->spread, n_spread, next_spread, GlobalKeys{nullptr, 0}, parts, sink);
}

KERNEL(fold_large)(const Walk* const walk) {
    const i64 thread = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (thread >= walk->n_scratch) return;
    ManyParts parts(*walk, thread);
    FoldSink sink;
    walk_parts(*walk, walk->large, n_large, next_large, GlobalKeys{nullptr, 0}, parts, sink);
}

KERNEL(list_reached)(const Walk* const walk) {
    const i64 thread = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (thread >= walk->n_scratch) return;
    ManyParts parts(*walk, thread);
    ReachedSink sink;
    walk_parts(*walk, walk->large, n_large, next_large, GlobalKeys{nullptr, 0}, parts, sink);
}
