// Rows that reach one leaf of each tree: a thread a row, several trees in flight.

// Goes down one tree from a slot to where the walk stops: a leaf, or a place where the row is spread.
template <class Keys>
RARE i32 descend(const Walk& w, i64 root, i32 at, const Keys keys, const double* x) {
    for (;;) {
        Slot slot = load(w.slots + at);
        while (to_child_of(slot)) {
            const u32 key = keys[column_of(slot)];
            if (key == missing_key) break;
            const bool right = key == slot.key ? exceeds(w, root, w.places[at], x) : key > slot.key;
            at += to_child_of(slot) + right;
            slot = load(w.slots + at);
        }
        const i32 place = w.places[at];
        if (place >= 0) return at;
        const i32 next = next_slot(w, root, place, x);
        if (next == no_slot) return at;
        at = next;
    }
}

// Slots where they are, or copied to the memory that threads share, from one on.
struct GlobalSlots {
    const Slot* slots;
    DEVICE Slot operator[](i32 at) const { return load(slots + at); }
};
struct StagedSlots {
    const Slot* slots;
    i32 first;
    DEVICE Slot operator[](i32 at) const { return slots[at - first]; }
};

// Folds trees first .. last - 1. False where an unknown category spreads the row over several leaves.
template <class Slots, class Keys>
DEVICE bool fold_trees(const Walk& w, const Slots& slots, i32 first, i32 last, i64 row, const Keys& keys,
                       double* folded) {
    const double* const x = w.X + row * w.n_features;
    for (; first < last; first += N_LANES) {
        i32 at[N_LANES];
        Slot slot[N_LANES];
        u32 moving = 0;
#pragma unroll
        for (int k = 0; k < N_LANES; ++k) {
            at[k] = w.root_slot[first + k < last ? first + k : first];
            slot[k] = slots[at[k]];
            moving |= slot[k].way;
        }
        while (moving >> 16) {  // lanes that have arrived stay where they are
            moving = 0;
#pragma unroll
            for (int k = 0; k < N_LANES; ++k) {
                if (!to_child_of(slot[k])) continue;
                const u32 key = keys[column_of(slot[k])];
                bool right = key > slot[k].key;
                if (key == slot[k].key)
                    right = exceeds(w, w.root_node[first + k < last ? first + k : first], w.places[at[k]], x);
                at[k] += to_child_of(slot[k]) + right;
                slot[k] = slots[at[k]];
                moving |= slot[k].way;
            }
        }
#pragma unroll
        for (int k = 0; k < N_LANES; ++k) {
            const i32 tree = first + k;
            if (tree >= last || skipped(w, tree, row)) continue;
            if (column_of(slot[k]) == stops) {
                slot[k] = load(w.slots + descend(w, w.root_node[tree], at[k], keys, x));
                if (column_of(slot[k]) == stops) return false;
            }
            add(w, row, tree, w.linked + i64(slot[k].key) * w.table_stride, folded);
        }
    }
    return true;
}

// Folds trees into the output of a row, or leaves the row to `fold_parts`.
template <class Slots, class Keys>
DEVICE void fold_row(const Walk& w, const Slots& slots, i32 first, i32 last, i64 row, const Keys& keys, bool resume) {
    double folded[N_COLUMNS];
    start_fold(w, row, resume, folded);
    if (!fold_trees(w, slots, first, last, row, keys, folded)) {
        w.apart[row] = 1;
        w.spread[add_one(w.counters + n_spread)] = u32(row);
    } else if (!w.tree_stride) {
        end_fold(w, row, folded);
    }
}

template <class Keys>
DEVICE void fold_listed(const Walk& w, Keys keys) {
    const i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= w.counters[n_plain]) return;
    const i64 row = w.plain[i];
    if (w.apart[row]) return;
    keys.read(w, row);
    fold_row(w, GlobalSlots{w.slots}, 0, i32(w.n_trees), row, keys, w.resume);
}

KERNEL(fold_rows)(const Walk* const walk) {
    SHARED(shared_keys);
    fold_listed(*walk, SharedKeys{shared_keys + threadIdx.x});
}

KERNEL(fold_rows_of_many_columns)(const Walk* const walk) { fold_listed(*walk, GlobalKeys{nullptr, 0}); }

// A few trees at a time are copied to the memory that the threads of a block share, and the block takes its rows down
// them: several reads of slots in a cycle, where the cache gives one.
KERNEL_OF_LARGE_BLOCKS(fold_staged)(const Walk* const walk) {
    SHARED(shared);
    const Walk& w = *walk;
    Slot* const staged = reinterpret_cast<Slot*>(shared);
    const SharedKeys keys{shared + 2 * w.most_slots + threadIdx.x};
    const i64 n = w.counters[n_plain], n_each = (n + gridDim.x - 1) / gridDim.x;
    const i64 begin = n_each * blockIdx.x, end = begin + n_each < n ? begin + n_each : n;
    for (i64 range = 0; range < w.n_ranges; ++range) {
        const i32 first_slot = w.range_slot[2 * range], n_slots = w.range_slot[2 * range + 1] - first_slot;
        __syncthreads();
        for (i32 i = threadIdx.x; i < n_slots; i += blockDim.x) staged[i] = load(w.slots + first_slot + i);
        __syncthreads();
        for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
            const i64 row = w.plain[i];
            if (w.apart[row]) continue;
            keys.read(w, row);
            fold_row(w, StagedSlots{staged, first_slot}, w.range_tree[range], w.range_tree[range + 1], row, keys,
                     w.resume || range > 0);
        }
    }
}

// Leaf number within each tree; a row that would be spread follows the heaviest child, or gets -1.
KERNEL(route_rows)(const Walk* const walk) {
    const Walk& w = *walk;
    const i64 row = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= w.n_rows) return;
    const double* const x = w.X + row * w.n_features;
    GlobalKeys keys{nullptr, 0};
    keys.read(w, row);
    for (i64 tree = 0; tree < w.n_trees; ++tree) {
        const i64 root = w.root_node[tree];
        i32 at = w.root_slot[tree], place = 0;
        for (;;) {
            at = descend(w, root, at, keys, x);
            place = w.places[at];
            if (place >= 0 || !w.heaviest) break;
            const i64 node = root + node_of_place(place), first = root + w.nodes[node].first_child;
            at = w.slot_of_node[first + heaviest_child(w, first, w.n_children[node])];
        }
        w.leaves[row * w.row_stride + w.tree_number[tree]] = place >= 0 ? place : no_child;
    }
}
