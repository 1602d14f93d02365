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
    const Slot* slots;  // where the first one of all would be
    DEVICE Slot operator[](i32 at) const { return slots[at]; }
};

// Goes a step down a tree without a branch. False where the walk stays: it has arrived, a value is missing, or it has the
// threshold's key; further steps change nothing then.
template <class Slots, class Keys>
DEVICE bool step_down(const Slots& slots, const Keys& keys, i32& at, Slot& slot) {
    const u32 key = keys[column_of(slot)];
    const bool moves = to_child_of(slot) && key != slot.key && key != missing_key;
    const i32 child = at + i32(to_child_of(slot)) + (key > slot.key);
    at = moves ? child : at;
    slot = slots[at];
    return moves;
}


// Copies the slots of a range of trees to the memory that the threads of a block share; returns the first one.
DEVICE i32 stage(const Walk& w, i64 range, Slot* staged) {
    const i32 first = w.range_slot[2 * range], n = w.range_slot[2 * range + 1] - first;
    __syncthreads();
    for (i32 i = threadIdx.x; i < n; i += blockDim.x) staged[i] = load(w.slots + first + i);
    __syncthreads();
    return first;
}

// Adds the leaf that a row has reached in a tree. False where an unknown category spreads the row over several leaves.
template <class Keys>
DEVICE bool add_leaf(const Walk& w, i64 row, i32 tree, i32 at, Slot slot, const Keys& keys, double* folded) {
    if (!w.adds_up && skipped(w, tree, row)) return true;
    if (is_stop(slot)) {
        slot = load(w.slots + descend(w, w.root_node[tree], at, keys, w.X + row * w.n_features));
        if (is_stop(slot)) return false;
    }
    add(w, row, tree, w.linked + i64(slot.key) * w.table_stride, folded);
    return true;
}

// Folds trees first .. last - 1, several abreast: their reads are under way together, which pays where each takes long.
template <class Slots, class Keys>
DEVICE bool fold_abreast(const Walk& w, const Slots& slots, i32 first, i32 last, i64 row, const Keys& keys,
                         double* folded) {
    const double* const x = w.X + row * w.n_features;
    for (; first < last; first += N_LANES) {
        i32 at[N_LANES];
        Slot slot[N_LANES];
        u32 moving = 0;
#pragma unroll
        for (int k = 0; k < N_LANES; ++k) {
            at[k] = load(w.root_slot + (first + k < last ? first + k : first));
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
        for (int k = 0; k < N_LANES; ++k)
            if (first + k < last && !add_leaf(w, row, first + k, at[k], slot[k], keys, folded)) return false;
    }
    return true;
}

// Folds trees first .. last - 1, one after the other: a thread whose row has arrived goes on with the next tree after a
// few steps, and does not wait until the rows of its neighbours have arrived too.
template <class Slots, class Keys>
DEVICE bool fold_in_turn(const Walk& w, const Slots& slots, i32 tree, i32 last, i64 row, const Keys& keys,
                         double* folded) {
    const double* const x = w.X + row * w.n_features;
    i32 at = load(w.root_slot + tree);
    for (;;) {
        Slot slot = slots[at];
        bool moves = true;
#pragma unroll
        for (int step = 0; step < N_STEPS; ++step) moves = step_down(slots, keys, at, slot);
        if (to_child_of(slot)) {
            if (!moves) at += i32(to_child_of(slot)) + exceeds(w, w.root_node[tree], w.places[at], x);
        } else if (is_stop(slot)) {
            at = next_slot(w, w.root_node[tree], w.places[at], x);
            if (at == no_slot) return false;
        } else {
            if (w.adds_up || !skipped(w, tree, row)) add(w, row, tree, w.linked + i64(slot.key) * w.table_stride, folded);
            if (++tree == last) return true;
            at = load(w.root_slot + tree);
        }
    }
}

// Writes the fold of a row, or leaves the row to `fold_parts`.
DEVICE void end_row(const Walk& w, i64 row, bool is_whole, const double* folded) {
    if (!is_whole) {
        w.apart[row] = is_spread;
        const u32 at = add_one(w.counters + n_spread);
        w.spread[at] = u32(row);
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
    double folded[N_COLUMNS];
    start_fold(w, row, w.resume, folded);
    end_row(w, row, fold_abreast(w, GlobalSlots{w.slots}, 0, i32(w.n_trees), row, keys, folded), folded);
}

KERNEL(fold_rows)(ARGUMENT(Walk, w)) {
    SHARED(shared_keys);
    fold_listed(w, SharedKeys{shared_keys + threadIdx.x, u32(blockDim.x)});
}

KERNEL(fold_rows_of_many_columns)(ARGUMENT(Walk, w)) { fold_listed(w, GlobalKeys{nullptr}); }

// A few trees at a time are copied to the memory that the threads of a block share, and the block takes its rows down
// them: several reads of slots in a cycle, where the cache gives one.
KERNEL_OF_LARGE_BLOCKS(fold_staged, 1024)(ARGUMENT(Walk, w)) {
    SHARED(shared);
    Slot* const staged = reinterpret_cast<Slot*>(shared);
    const SharedKeys keys{shared + 2 * w.most_slots + threadIdx.x, u32(blockDim.x)};
    const i64 n = w.counters[n_plain], n_each = (n + gridDim.x - 1) / gridDim.x;
    const i64 begin = n_each * blockIdx.x, end = begin + n_each < n ? begin + n_each : n;
    for (i64 range = 0; range < w.n_ranges; ++range) {
        const StagedSlots slots{staged - stage(w, range, staged)};
        const i32 first = w.range_tree[range], last = w.range_tree[range + 1];
        for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
            const i64 row = w.plain[i];
            if (w.apart[row]) continue;
            keys.read(w, row);
            double folded[N_COLUMNS];
            start_fold(w, row, w.resume || range > 0, folded);
            end_row(w, row, fold_in_turn(w, slots, first, last, row, keys, folded), folded);
        }
    }
}

// Leaf number within each tree; a row that would be spread follows the heaviest child, or gets -1.
KERNEL(route_rows)(ARGUMENT(Walk, w)) {
    const i64 row = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= w.n_rows) return;
    const double* const x = w.X + row * w.n_features;
    GlobalKeys keys{nullptr};
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
