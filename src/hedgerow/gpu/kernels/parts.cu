// Rows that reach several leaves of a tree: parts of rows with weights, as core/walk/tree_spread.hpp has them.
//
// The threads of a warp have a row each, and take all of them down a tree together: a thread whose part has arrived takes
// the next one that waits, whosever it is. So all are busy, though some rows have a hundred parts and some have one. The
// leaves that were met are brought into the order of rows and nodes afterwards, in which each thread adds up those of
// its row.

// Parts of the rows of a warp, in the memory of the device.
struct Pile {
    u32* at;
    u32* owner;  // the thread that has the row
    double* weight;

    DEVICE Pile(const Walk& w, i64 which)
        : at(w.pile_numbers + 2 * w.pile_room * which),
          owner(at + w.pile_room),
          weight(w.pile_weights + w.pile_room * which) {}
    DEVICE void put(u32 place, i32 part, u32 lane, double share) const {
        at[place] = u32(part);
        owner[place] = lane;
        weight[place] = share;
    }
};

struct Crew {
    Pile waiting, arrived;
    u32* counters;  // one of each thread, in the memory that threads share
    u32 room;
    u32 n_arrived;
    u32 begin, n;  // the leaves of this thread's row are n, from `begin` on in the pile of those that have arrived
    bool was_spread;

    DEVICE Crew(const Walk& w, u32* shared)
        : waiting(w, 2 * number()),
          arrived(w, 2 * number() + 1),
          counters(shared + threadIdx.x / n_abreast * n_abreast),
          room(u32(w.pile_room)) {}
    DEVICE static i64 number() { return (i64(blockIdx.x) * blockDim.x + threadIdx.x) / n_abreast; }

    // Takes the rows of the threads that have one down a tree. False where there is no room for their parts: there is for
    // those of one row.
    template <class Slots, class Keys>
    DEVICE bool walk(const Walk& w, const Slots& slots, i32 tree, bool busy, u32 row, const Keys& keys) {
        const i64 root = w.root_node[tree];
        u32 owner = lane_number(), spread_rows = 0, n_waiting = 0;
        i32 at = w.root_slot[tree];
        double share = 1;
        n_arrived = 0;
        counters[lane_number()] = 0;
        wait_abreast();
        for (;;) {
            const u32 idle = vote(!busy), rank = count_bits(idle & lanes_before());
            if (!busy && rank < n_waiting) {
                const u32 last = n_waiting - 1 - rank;
                at = i32(waiting.at[last]);
                owner = waiting.owner[last];
                share = waiting.weight[last];
                busy = true;
            }
            n_waiting -= count_bits(idle) < n_waiting ? count_bits(idle) : n_waiting;
            if (!vote(busy)) break;
            const Keys its_keys = keys.of_lane(owner);
            const double* const x = w.X + i64(value_of(row, owner)) * w.n_features;
            Slot slot = slots[at];
            bool moves = true;
#pragma unroll
            for (int step = 0; step < N_PART_STEPS; ++step) moves = step_down(slots, its_keys, at, slot);

            const bool is_leaf = busy && to_child_of(slot) == 0 && !is_stop(slot);
            const u32 leaves = vote(is_leaf);
            if (n_arrived + count_bits(leaves) > room) return false;
            if (is_leaf) {
                arrived.put(n_arrived + count_bits(leaves & lanes_before()), at, owner, share);
                take_one(counters + owner);
                busy = false;
            }
            n_arrived += count_bits(leaves);

            double other = 0;  // the part of the second of two children
            i32 pair = 0;
            bool divides = false;
            if (busy && !(moves && to_child_of(slot))) {
                pair = at + i32(to_child_of(slot));
                const bool ties = to_child_of(slot) && its_keys[column_of(slot)] == slot.key;
                const double first = to_child_of(slot) && !ties ? load(w.slot_share + pair) : -1;
                if (first >= 0) {  // a value is missing
                    other = load(w.slot_share + pair + 1) * share;
                    share = first * share;
                    at = pair;
                    busy = share > 0;
                    spread_rows |= 1u << owner;
                } else if (ties) {
                    at = pair + exceeds(w, root, w.places[at], x);
                } else {
                    const i32 next = next_slot(w, root, w.places[at], x);
                    divides = next == no_slot;
                    busy = !divides;
                    at = divides ? at : next;
                }
            }
            const u32 those = vote(other > 0);
            if (n_waiting + count_bits(those) > room) return false;
            if (other > 0) waiting.put(n_waiting + count_bits(those & lanes_before()), pair + 1, owner, other);
            n_waiting += count_bits(those);
            for (u32 left = vote(divides); left; left &= left - 1) {  // one node after the other
                const u32 lane = first_bit(left);
                if (!divide(w, root, w.places[value_of(at, lane)], value_of(owner, lane), value_of(share, lane), n_waiting))
                    return false;
                spread_rows |= 1u << value_of(owner, lane);
            }
            wait_abreast();
        }
        for (u32 step = 1; step < n_abreast; step *= 2) spread_rows |= value_of(spread_rows, lane_number() ^ step);
        was_spread = spread_rows >> lane_number() & 1;
        return true;
    }

    // Puts a part for each child of a node on the pile.
    DEVICE bool divide(const Walk& w, i64 root, i32 place, u32 owner, double share, u32& n_waiting) const {
        const i64 node = root + node_of_place(place), first = root + w.nodes[node].first_child;
        const i32 n_children = w.n_children[node];
        for (i32 child = 0; child < n_children; ++child) {
            const double part = w.shares[first + child] * share;
            if (!(part > 0)) continue;
            if (n_waiting == room) return false;
            if (lane_number() == 0) waiting.put(n_waiting, w.slot_of_node[first + child], owner, part);
            ++n_waiting;
        }
        return true;
    }

    // Brings the leaves into the order of rows and nodes.
    DEVICE void sort(const Walk& w) {
        n = counters[lane_number()];
        u32 end = n;
        for (u32 step = 1; step < n_abreast; step *= 2) {
            const u32 before = value_of(end, lane_number() >= step ? lane_number() - step : lane_number());
            if (lane_number() >= step) end += before;
        }
        begin = end - n;
        wait_abreast();
        counters[lane_number()] = begin;
        wait_abreast();
        for (u32 i = lane_number(); i < n_arrived; i += n_abreast) {
            const u32 owner = arrived.owner[i];
            waiting.put(take_one(counters + owner), i32(arrived.at[i]), owner, arrived.weight[i]);
        }
        wait_abreast();
        for (u32 first = 0; first < n_arrived; first += n_abreast) {
            const u32 i = first + lane_number();
            const u32 owner = i < n_arrived ? waiting.owner[i] : lane_number();
            const u32 its_begin = value_of(begin, owner), its_end = its_begin + value_of(n, owner);
            if (i >= n_arrived) continue;
            const i32 at = i32(waiting.at[i]), rank = order_of(w, at);
            u32 place = its_begin;
#pragma unroll 4
            for (u32 k = its_begin; k < its_end; ++k) place += order_of(w, i32(waiting.at[k])) < rank;
            arrived.put(place, at, owner, waiting.weight[i]);
        }
        wait_abreast();
    }
    DEVICE static i32 order_of(const Walk& w, i32 at) { return w.order ? load(w.order + at) : at; }
};

DEVICE double apply_link(u64 link, double value) {
    if (link == link_log) return log(value);
    if (link == link_entropy) return value > 0 ? -value * log2(value) : 0.0;
    return value;
}

// The fold of a row: the mean of the leaves before the link, as averages of logarithms would be wrong.
struct FoldSink {
    double folded[N_COLUMNS];

    DEVICE void start(const Walk& w, i64 row, bool resume) { start_fold(w, row, resume, folded); }
    // Called by all threads of a warp; `takes_part`: with a row.
    template <class Slots>
    DEVICE void add_tree(const Walk& w, const Slots& slots, bool takes_part, i64 row, i32 tree, const Crew& crew) {
        double mean[N_COLUMNS];
#pragma unroll
        for (int c = 0; c < N_COLUMNS; ++c) mean[c] = 0;
        const bool has_many = takes_part && crew.n > n_abreast;
        for (u32 left = vote(has_many); left; left &= left - 1) {  // these are read by all threads together
            const u32 lane = first_bit(left), end = value_of(crew.begin + crew.n, lane);
            for (u32 first = value_of(crew.begin, lane); first < end; first += n_abreast) {
                const u32 i = first + lane_number();
                double part[N_COLUMNS];
                if (i < end) {
                    const double share = crew.arrived.weight[i];
                    const double* const values = w.values + i64(slots[i32(crew.arrived.at[i])].key) * w.table_stride;
#pragma unroll
                    for (int c = 0; c < N_COLUMNS; ++c) part[c] = share * values[c];
                }
                const u32 m = end - first < n_abreast ? end - first : n_abreast;
                for (u32 k = 0; k < m; ++k)
#pragma unroll
                    for (int c = 0; c < N_COLUMNS; ++c) {
                        const double one = value_of(part[c], k);
                        if (lane == lane_number()) mean[c] += one;
                    }
            }
        }
        if (!takes_part) return;
        const double* const table = crew.was_spread ? w.values : w.linked;
        for (u32 i = crew.begin; i < crew.begin + crew.n && !has_many; ++i) {
            const double share = crew.arrived.weight[i];
            const double* const values = table + i64(slots[i32(crew.arrived.at[i])].key) * w.table_stride;
#pragma unroll
            for (int c = 0; c < N_COLUMNS; ++c) mean[c] = crew.was_spread ? mean[c] + share * values[c] : values[c];
        }
        if (!w.adds_up && skipped(w, tree, row)) return;
        if (crew.was_spread && w.links)
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
    i64 n = 0;

    DEVICE void start(const Walk& w, i64 row, bool) { n = w.row_start ? w.row_start[row] : 0; }
    template <class Slots>
    DEVICE void add_tree(const Walk& w, const Slots&, bool takes_part, i64, i32 tree, const Crew& crew) {
        if (!takes_part) return;
        if (w.row_start)
            for (u32 i = 0; i < crew.n; ++i) {
                w.reached[n + i] = w.first_leaf[tree] + w.places[crew.arrived.at[crew.begin + i]];
                w.reached_weight[n + i] = crew.arrived.weight[crew.begin + i];
            }
        n += crew.n;
    }
    DEVICE void end(const Walk& w, i64 row) {
        if (!w.row_start) w.n_reached[row] = n;
    }
};

// Takes a row of each thread of a warp down trees first .. last - 1: those of half of the threads where the parts of all
// are too many, and so on.
template <class Sink, class Slots, class Keys>
DEVICE void spread_abreast(const Walk& w, const Slots& slots, i32 first, i32 last, bool has_row, u32 row, Keys& keys,
                           Crew& crew, bool resume) {
    Sink sink{};
    keys.read(w, row);  // of any row where there is none: idle threads read them too
    if (has_row) sink.start(w, row, resume);
    wait_abreast();
    u32 n_together = n_abreast;
    for (i32 tree = first; tree < last; ++tree)
        for (u32 lane = 0; lane < n_abreast;) {
            const bool takes_part = has_row && lane_number() >= lane && lane_number() < lane + n_together;
            if (!crew.walk(w, slots, tree, takes_part, row, keys)) {
                n_together /= 2;
                continue;
            }
            crew.sort(w);
            sink.add_tree(w, slots, takes_part, row, tree, crew);
            lane += n_together;
        }
    if (has_row) sink.end(w, row);
}

// Number in a list of the row that this thread has in a turn. Rows that lack most values are side by side in it: each warp
// gets some of them, and some that lack few.
DEVICE u32 number_of_turn(u32 turn, u32 n) { return lane_number() * ((n + n_abreast - 1) / n_abreast) + turn; }
DEVICE bool is_turn(u32 turn, u32 n) { return turn < (n + n_abreast - 1) / n_abreast; }

// Takes rows from a list until there are none, as many as a warp has threads at a time.
template <class Sink, class Keys>
DEVICE void spread_listed(const Walk& w, const u32* list, u32 n, Keys keys, u32* counters) {
    Crew crew(w, counters);
    for (;;) {
        const u32 turn = take_turn(w.counters + next_spread), i = number_of_turn(turn, n);
        if (!is_turn(turn, n)) break;
        const u32 row = i < n ? (list ? list[i] : i) : 0;
        spread_abreast<Sink>(w, GlobalSlots{w.slots}, 0, i32(w.n_trees), i < n, row, keys, crew, w.resume);
    }
}

// Keys of neighbours are in different banks of the memory that threads share, in every column.
DEVICE u32 odd_stride() { return u32(blockDim.x) + 1; }

KERNEL(fold_parts)(ARGUMENT(Walk, w)) {
    SHARED(shared);
    const SharedKeys keys{shared + blockDim.x + threadIdx.x, odd_stride()};
    spread_listed<FoldSink>(w, w.spread, w.counters[n_spread], keys, shared);
}

KERNEL(fold_parts_of_many_columns)(ARGUMENT(Walk, w)) {
    SHARED(shared);
    spread_listed<FoldSink>(w, w.spread, w.counters[n_spread], GlobalKeys{nullptr}, shared);
}

// With a few trees at a time in the memory that the threads of a block share, as `fold_staged`. Turns go to all
// blocks one after the other.
KERNEL_OF_LARGE_BLOCKS(fold_parts_staged, N_PART_THREADS)(ARGUMENT(Walk, w)) {
    SHARED(shared);
    const u32 n = w.counters[n_spread];
    if (n == 0) return;
    Slot* const staged = reinterpret_cast<Slot*>(shared);
    u32* const beside = shared + 2 * w.most_slots;
    u32* const next = beside + blockDim.x;
    SharedKeys keys{next + 1 + threadIdx.x, odd_stride()};
    Crew crew(w, beside);
    for (i64 range = 0; range < w.n_ranges; ++range) {
        const StagedSlots slots{staged - stage(w, range, staged)};
        if (threadIdx.x == 0) *next = 0;
        __syncthreads();
        for (;;) {
            const u32 turn = take_turn(next) * gridDim.x + blockIdx.x, i = number_of_turn(turn, n);
            if (!is_turn(turn, n)) break;
            spread_abreast<FoldSink>(w, slots, w.range_tree[range], w.range_tree[range + 1], i < n,
                                     i < n ? w.spread[i] : 0, keys, crew, w.resume || range > 0);
        }
    }
}

KERNEL(list_reached)(ARGUMENT(Walk, w)) {
    SHARED(shared);
    spread_listed<ReachedSink>(w, nullptr, u32(w.n_rows), GlobalKeys{nullptr}, shared);
}
