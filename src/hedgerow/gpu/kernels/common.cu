// What all kernels share. The files of this folder are compiled as one, by NVRTC on a GPU and by a C++ compiler in tests:
// no header is included. Threads wait for each other in kernels of large blocks alone; others may run one after the other.
typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef long long i64;
typedef unsigned long long u64;

#ifdef __CUDACC__
#define KERNEL(name) extern "C" __global__ void name
#define ARGUMENT(type, name) const __grid_constant__ type name
#define DEVICE __device__ __forceinline__
#define RARE __device__ __noinline__
#define KERNEL_OF_LARGE_BLOCKS(name, n_threads) extern "C" __global__ void __launch_bounds__(n_threads, 1) name
#define SHARED(name) extern __shared__ u32 name[]
DEVICE u64 bits_of(double value) { return __double_as_longlong(value); }
DEVICE double infinity() { return __longlong_as_double(0x7FFll << 52); }
constexpr u32 n_abreast = 32, all_abreast = ~0u;  // threads of a warp, which these functions are about
DEVICE u32 lane_number() { return threadIdx.x % 32; }
DEVICE void wait_abreast() { __syncwarp(); }
DEVICE u32 vote(bool yes) { return __ballot_sync(all_abreast, yes); }
template <class T>
DEVICE T value_of(T value, u32 lane) {
    return __shfl_sync(all_abreast, value, lane);
}
DEVICE u32 count_bits(u32 bits) { return __popc(bits); }
DEVICE u32 first_bit(u32 bits) { return __ffs(bits) - 1; }
DEVICE u32 take_one(u32* counter) { return atomicAdd(counter, 1u); }
DEVICE u32 add_one(u32* counter) {  // one addition for all threads of a warp that are here
    const u32 here = __activemask();
    const u32 lane = threadIdx.x % 32, first = __ffs(here) - 1;
    u32 before = 0;
    if (lane == first) before = atomicAdd(counter, __popc(here));
    return __shfl_sync(here, before, first) + __popc(here & ((1u << lane) - 1));
}
#endif
DEVICE u32 lanes_before() { return (1u << lane_number()) - 1; }
// A number that all threads of a warp get together.
DEVICE u32 take_turn(u32* counter) {
    u32 turn = 0;
    if (lane_number() == 0) turn = add_one(counter);
    return value_of(turn, 0);
}

// The numbers are those of the core: core/forest/forest.hpp, core/walk/row_keys.hpp, core/walk/packed.hpp.
enum Kind : u8 { kind_leaf, kind_threshold, kind_one_against_rest, kind_subset, kind_multiway, kind_oblique };
enum Missing : u8 { missing_spread, missing_first_child, missing_last_child, missing_own_branch };
enum Reading : u8 { reading_stay, reading_first, reading_last, reading_code };
enum Op : u8 { op_sum, op_min, op_max };
enum Link : u8 { link_identity, link_log, link_entropy };

constexpr u32 first_key = 0, last_key = ~0u - 1, missing_key = ~0u;
constexpr i32 no_child = -1, no_slot = -1;

struct Node {
    double threshold;
    i32 feature, first_child;
};

// To_child of 0: the walk stops, and `column` is 0, which may be read as any other. In a leaf `key` is the row of the leaf
// table; elsewhere it is `stops`, and the split is evaluated on the forest's own arrays.
struct alignas(8) Slot {
    u32 key, way;  // way: column | to_child << 16
};
struct alignas(16) FourKeys {
    u32 key[4];
};
constexpr u32 stops = ~0u;
#ifdef __CUDACC__
DEVICE Slot load(const Slot* slot) {
    const uint2 read = __ldg(reinterpret_cast<const uint2*>(slot));
    return {read.x, read.y};
}
DEVICE FourKeys load(const FourKeys* keys) {
    const uint4 read = __ldg(reinterpret_cast<const uint4*>(keys));
    return {{read.x, read.y, read.z, read.w}};
}
DEVICE u32 load(const u32* key) { return __ldg(key); }
DEVICE i32 load(const i32* number) { return __ldg(number); }
DEVICE double load(const double* value) { return __ldg(value); }
#else
template <class T>
DEVICE T load(const T* value) {
    return *value;
}
#endif
DEVICE u32 column_of(const Slot& slot) { return slot.way & 0xFFFF; }
DEVICE u32 to_child_of(const Slot& slot) { return slot.way >> 16; }
DEVICE bool is_stop(const Slot& slot) { return to_child_of(slot) == 0 && slot.key == stops; }

// One launch. The fields are those of hedgerow.gpu.launch, in its order, eight bytes each.
struct Walk {
    // Trees: the arrays of a PackedForest and of its forest, from the first tree of the group on.
    const Slot* slots;
    const i32* places;
    const Node* nodes;
    const u8* kinds;
    const u8* policies;
    const i32* payloads;
    const i64* payload_start;
    const i32* payload_codes;
    const double* payload_weights;
    const double* payload_means;  // null: nothing stands in for missing values
    const i32* n_children;
    const double* weights;
    const double* shares;
    const i32* slot_of_node;
    const double* slot_share;  // of the node in a slot, in the rows that are spread above it; negative: they are not
    const i32* order;          // of slots as their nodes have it; null: that of the slots
    // Per tree that takes part, in order.
    const i32* root_slot;
    const i32* root_node;
    const i32* first_leaf;
    const i32* tree_number;  // in the forest
    const double* tree_weight;
    i64 n_trees;
    // Ranges of trees that are copied to the memory that threads share: their first trees and slots, and ends.
    const i32* range_tree;
    const i32* range_slot;
    i64 n_ranges;
    i64 most_slots;
    // Columns of keys.
    const i32* key_feature;
    const u8* key_reading;
    const i64* key_codes;
    i64 n_keys;
    i64 key_stride;  // of a row: a multiple of four
    // Rows, row-major, and their keys likewise.
    const double* X;
    i64 n_rows;
    i64 n_features;
    u32* keys;
    u8* apart;     // who a row is left to, see below
    u32* plain;    // lists of rows, whose lengths are in `counters`
    u32* spread;
    u64* pattern;  // of each row in `spread`: how many of its keys are missing, and which
    u32* counters;
    // Leaf table: the next n_columns of it, from here.
    const double* values;
    const double* linked;
    const u32* row_of;
    i64 table_stride;
    u64 links;  // four bits a column
    u64 ops;
    i64 adds_up;  // whether all columns are sums, all trees weigh 1, and no row is left out
    const u8* skip;
    i64 skip_stride;
    double* out;
    i64 row_stride;
    i64 tree_stride;  // 0: trees are folded
    i64 resume;       // whether `out` has the fold of trees before these
    // Routes, and leaves with weights.
    i32* leaves;
    i64 heaviest;
    i64* n_reached;
    const i64* row_start;
    i64* reached;
    double* reached_weight;
    // Scratch of warps: two piles of parts each.
    i64 pile_room;
    u32* pile_numbers;
    double* pile_weights;
};

enum Counter { n_plain, n_spread, next_spread };
enum Apart : u8 { is_plain, is_spread };

DEVICE bool is_nan(double x) { return x != x; }

// -- keys of rows, as core/walk/row_keys.hpp

DEVICE u32 row_key(double value) {
    const u64 bits = bits_of(value), sign = 1ull << 63, magnitude = bits & ~sign;
    const u64 m = bits & sign ? sign - magnitude : sign + magnitude;
    return u32(m >> 33 << 1) | u32((m & ((1ull << 33) - 1)) != 0);
}

DEVICE i64 code_of(double value, i64 n_codes) {
    if (!(value >= 0 && value < double(n_codes))) return no_child;
    const i64 code = i64(value);
    return double(code) == value ? code : no_child;
}

DEVICE u32 key_of(double value, u8 reading, i64 n_codes) {
    if (reading == reading_code) {
        if (is_nan(value)) return last_key;
        const i64 code = code_of(value, n_codes);
        return u32(2 * (code == no_child ? n_codes : code));
    }
    if (!is_nan(value)) return row_key(value);
    return reading == reading_stay ? missing_key : reading == reading_first ? first_key : last_key;
}

KERNEL(make_keys)(ARGUMENT(Walk, w)) {
    const i64 row = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= w.n_rows) return;
    const double* const x = w.X + row * w.n_features;
    FourKeys* const keys = reinterpret_cast<FourKeys*>(w.keys + row * w.key_stride);
    u64 n_missing = 0, which = 0;
    for (i64 first = 0; first < w.n_keys; first += 4) {
        FourKeys four;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const i64 c = first + k < w.n_keys ? first + k : first;
            four.key[k] = key_of(x[w.key_feature[c]], w.key_reading[c], w.key_codes[c]);
            if (first + k < w.n_keys && four.key[k] == missing_key) {
                ++n_missing;
                which |= 1ull << (c % 48);
            }
        }
        keys[first / 4] = four;
    }
    w.apart[row] = n_missing ? is_spread : is_plain;
    if (n_missing) {
        const u32 at = add_one(w.counters + n_spread);
        w.spread[at] = u32(row);
        w.pattern[at] = n_missing << 48 | which;
    } else {
        w.plain[add_one(w.counters + n_plain)] = u32(row);
    }
}

// -- splits that keys don't decide, as core/forest/splits.hpp

DEVICE i32 node_of_place(i32 place) { return ~place >> 1; }  // relative to the root
DEVICE bool spreads_at(i32 place) { return (~place & 1) != 0; }

DEVICE i32 child_if_missing(const Walk& w, i64 node) {
    switch (w.policies[node]) {
        case missing_spread:
            return no_child;
        case missing_first_child:
            return 0;
        default:
            return w.n_children[node] - 1;
    }
}

DEVICE i32 child_of_category(const Walk& w, i64 node, double value) {
    const i64 begin = w.payload_start[w.payloads[node]], n_words = w.payload_start[w.payloads[node] + 1] - begin;
    const i32* const words = w.payload_codes + begin;
    const bool multiway = w.kinds[node] == kind_multiway;
    const i64 code = code_of(value, n_words * (multiway ? 1 : 32));
    if (code == no_child) return no_child;
    if (multiway) return words[code];
    return u32(words[code / 32]) >> (code % 32) & 1 ? 0 : 1;
}

DEVICE double oblique_sum(const Walk& w, i64 node, const double* row) {
    const i64 begin = w.payload_start[w.payloads[node]], end = w.payload_start[w.payloads[node] + 1];
    bool replaces = false;  // where a mean is to be had, and any value is known
    if (w.payload_means != nullptr)
        for (i64 i = begin; i < end; ++i) replaces |= !is_nan(row[w.payload_codes[i]]);
    double sum = 0;
    for (i64 i = begin; i < end; ++i) {
        const double value = row[w.payload_codes[i]];
        sum += w.payload_weights[i] * (replaces && is_nan(value) ? w.payload_means[i] : value);
    }
    return sum;
}

DEVICE i32 branch_of(const Walk& w, i64 node, const double* row) {
    const u8 kind = w.kinds[node];
    const Node test = w.nodes[node];
    const double value = kind == kind_oblique ? oblique_sum(w, node, row) : row[test.feature];
    if (is_nan(value)) return no_child;
    if (kind == kind_subset || kind == kind_multiway) return child_of_category(w, node, value);
    if (kind == kind_one_against_rest) return value == test.threshold ? 0 : 1;
    return value <= test.threshold ? 0 : 1;
}

DEVICE i32 heaviest_child(const Walk& w, i64 first, i32 n) {
    i32 best = 0;
    for (i32 child = 1; child < n; ++child)
        if (w.weights[first + child] > w.weights[first + best]) best = child;
    return best;
}

// Slot that a row goes on from where a walk has stopped at a place that is no leaf; no_slot where it is spread.
RARE i32 next_slot(const Walk& w, i64 root, i32 place, const double* row) {
    if (spreads_at(place)) return no_slot;
    const i64 node = root + node_of_place(place);
    i32 child = branch_of(w, node, row);
    if (child == no_child) child = child_if_missing(w, node);
    return child == no_child ? no_slot : w.slot_of_node[root + w.nodes[node].first_child + child];
}

// Whether the row's value is above the threshold of a slot whose key it shares.
DEVICE bool exceeds(const Walk& w, i64 root, i32 place, const double* row) {
    const Node test = w.nodes[root + node_of_place(place)];
    return row[test.feature] > test.threshold;
}

// Keys of one row: copied to the memory that threads share, or where they are.
struct SharedKeys {
    u32* at;
    u32 stride;
    DEVICE void read(const Walk& w, i64 row) const {
        const FourKeys* const keys = reinterpret_cast<const FourKeys*>(w.keys + row * w.key_stride);
        for (i64 first = 0; first < w.n_keys; first += 4) {
            const FourKeys four = load(keys + first / 4);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (first + k < w.n_keys) at[(first + k) * stride] = four.key[k];
        }
    }
    DEVICE u32 operator[](u32 column) const { return at[column * stride]; }
    DEVICE SharedKeys of_lane(u32 lane) const { return {at + lane - lane_number(), stride}; }
};
struct GlobalKeys {
    const u32* at;
    DEVICE void read(const Walk& w, i64 row) { at = w.keys + row * w.key_stride; }
    DEVICE u32 operator[](u32 column) const { return load(at + column); }
    DEVICE GlobalKeys of_lane(u32 lane) const { return {reinterpret_cast<const u32*>(value_of(u64(at), lane))}; }
};

// -- leaf tables

DEVICE u64 four_bits(u64 word, int column) { return word >> (4 * column) & 15; }

DEVICE double neutral(u64 op) {
    if (op == op_sum) return 0;
    return op == op_min ? infinity() : -infinity();
}

DEVICE void start_fold(const Walk& w, i64 row, bool resume, double* folded) {
#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c)
        folded[c] = resume ? w.out[row * w.row_stride + c] : neutral(four_bits(w.ops, c));
}

DEVICE void end_fold(const Walk& w, i64 row, const double* folded) {
#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c) w.out[row * w.row_stride + c] = folded[c];
}

DEVICE bool skipped(const Walk& w, i64 tree, i64 row) {
    return w.skip && (w.skip[w.tree_number[tree] * w.skip_stride + row / 8] >> (row % 8) & 1);
}

// Adds the linked values of a tree. A product and a sum: the compiler must not fuse them.
DEVICE void add(const Walk& w, i64 row, i64 tree, const double* linked, double* folded) {
    if (w.adds_up) {
#pragma unroll
        for (int c = 0; c < N_COLUMNS; ++c) folded[c] += linked[c];
        return;
    }
    const double weight = w.tree_weight[tree];
    if (w.tree_stride) {
        double* const out = w.out + row * w.row_stride + w.tree_number[tree] * w.tree_stride;
#pragma unroll
        for (int c = 0; c < N_COLUMNS; ++c) out[c] = 0.0 + weight * linked[c];
        return;
    }
#pragma unroll
    for (int c = 0; c < N_COLUMNS; ++c) {
        const double value = linked[c];
        switch (four_bits(w.ops, c)) {
            case op_sum:
                folded[c] += weight * value;
                break;
            case op_min:
                folded[c] = value < folded[c] ? value : folded[c];
                break;
            default:
                folded[c] = folded[c] < value ? value : folded[c];
        }
    }
}
