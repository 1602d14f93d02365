// What all kernels share. The files of this folder are compiled as one, by NVRTC on a GPU and by a C++ compiler in tests:
// no header is included. Threads wait for each other in `fold_staged` alone; others may run one after the other.
typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef long long i64;
typedef unsigned long long u64;

#ifdef __CUDACC__
#define KERNEL(name) extern "C" __global__ void name
#define DEVICE __device__ __forceinline__
#define RARE __device__ __noinline__
#define KERNEL_OF_LARGE_BLOCKS(name) extern "C" __global__ void __launch_bounds__(1024) name
#define SHARED(name) extern __shared__ u32 name[]
DEVICE u64 bits_of(double value) { return __double_as_longlong(value); }
DEVICE double infinity() { return __longlong_as_double(0x7FFll << 52); }
DEVICE u32 add_one(u32* counter) {  // one addition for all threads of a warp that are here
    const u32 here = __activemask();
    const u32 lane = threadIdx.x % 32, first = __ffs(here) - 1;
    u32 before = 0;
    if (lane == first) before = atomicAdd(counter, __popc(here));
    return __shfl_sync(here, before, first) + __popc(here & ((1u << lane) - 1));
}
#endif

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

// To_child of 0: the walk stops. In a leaf `key` is the row of the leaf table, and `column` 0; elsewhere the split is
// evaluated on the forest's own arrays, and `column` is `stops`.
struct alignas(8) Slot {
    u32 key, way;  // way: column | to_child << 16
};
constexpr u32 stops = 0xFFFF;
#ifdef __CUDACC__
DEVICE Slot load(const Slot* slot) {
    const uint2 read = __ldg(reinterpret_cast<const uint2*>(slot));
    return {read.x, read.y};
}
DEVICE u32 load(const u32* key) { return __ldg(key); }
DEVICE double load(const double* value) { return __ldg(value); }
#else
template <class T>
DEVICE T load(const T* value) {
    return *value;
}
#endif
DEVICE u32 column_of(const Slot& slot) { return slot.way & 0xFFFF; }
DEVICE u32 to_child_of(const Slot& slot) { return slot.way >> 16; }

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
    // Per tree that takes part, in order.
    const i32* root_slot;
    const i32* root_node;
    const i32* first_leaf;
    const i32* tree_number;  // in the forest
    const double* tree_weight;
    i64 n_trees;
    // Ranges of trees that `fold_staged` copies to the memory that threads share: their first trees and slots, and ends.
    const i32* range_tree;
    const i32* range_slot;
    i64 n_ranges;
    i64 most_slots;
    // Columns of keys.
    const i32* key_feature;
    const u8* key_reading;
    const i64* key_codes;
    i64 n_keys;
    // Rows, row-major; keys column after column.
    const double* X;
    i64 n_rows;
    i64 n_features;
    u32* keys;
    u8* apart;      // rows that are left to `fold_parts`
    u32* plain;     // lists of rows, whose lengths are in `counters`
    u32* spread;
    u32* large;
    u32* counters;
    // Leaf table: the next n_columns of it, from here.
    const double* values;
    const double* linked;
    const u32* row_of;
    i64 table_stride;
    u64 links;  // four bits a column
    u64 ops;
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
    // Scratch of `fold_large`, for each thread.
    i64 most_leaves;
    i64 n_scratch;
    double* leaf_weight;  // 0 but for leaves reached
    u32* leaf_bits;
    i32* waiting_slot;
    double* waiting_weight;
};

enum Counter { n_plain, n_spread, n_large, next_spread, next_large };

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

KERNEL(make_keys)(const Walk* const walk) {
    const Walk& w = *walk;
    const i64 row = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= w.n_rows) return;
    const double* const x = w.X + row * w.n_features;
    bool stays = false;
    for (i64 c = 0; c < w.n_keys; ++c) {
        const u32 key = key_of(x[w.key_feature[c]], w.key_reading[c], w.key_codes[c]);
        w.keys[c * w.n_rows + row] = key;
        stays |= key == missing_key;
    }
    w.apart[row] = stays;
    if (stays)
        w.spread[add_one(w.counters + n_spread)] = u32(row);
    else
        w.plain[add_one(w.counters + n_plain)] = u32(row);
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
    DEVICE void read(const Walk& w, i64 row) const {
        for (i64 c = 0; c < w.n_keys; ++c) at[c * blockDim.x] = load(w.keys + c * w.n_rows + row);
    }
    DEVICE u32 operator[](u32 column) const { return at[column * blockDim.x]; }
};
struct GlobalKeys {
    const u32* at;
    i64 n_rows;
    DEVICE void read(const Walk& w, i64 row) {
        at = w.keys + row;
        n_rows = w.n_rows;
    }
    DEVICE u32 operator[](u32 column) const { return load(at + column * n_rows); }
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
