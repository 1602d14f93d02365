// What the kernels of growth share. The files of this folder are compiled as one, by NVRTC on a GPU and by a C++
// compiler in tests, where a team has one thread.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int i32;
typedef long long i64;
typedef unsigned long long u64;

#ifdef __CUDACC__
#define KERNEL(name) extern "C" __global__ void name
#define DEVICE __device__ __forceinline__
#define CALLED __device__ __noinline__
#define SHARED(name) extern __shared__ double name[]
DEVICE double infinity() { return __longlong_as_double(0x7FFll << 52); }
DEVICE u32 add_to(u32* counter, u32 n) { return atomicAdd(counter, n); }
DEVICE void set_bits(u32* word, u32 bits) { atomicOr(word, bits); }
DEVICE void lower(u32* least, u32 value) { atomicMin(least, value); }
template <class T>
DEVICE void raise(T* greatest, T value) {
    atomicMax(greatest, value);
}
DEVICE u64 bits_of(double value) { return __double_as_longlong(value); }
DEVICE double as_double(u64 bits) { return __longlong_as_double(bits); }
DEVICE u32 lowest_bit(u32 word) { return __ffs(word) - 1; }
DEVICE u32 next_place(u32* counter) {  // one addition for all threads of a warp that are here with this counter
    const u32 here = __match_any_sync(__activemask(), reinterpret_cast<u64>(counter));
    const u32 lane = threadIdx.x % 32, first = __ffs(here) - 1;
    u32 before = 0;
    if (lane == first) before = atomicAdd(counter, __popc(here));
    return __shfl_sync(here, before, first) + __popc(here & ((1u << lane) - 1));
}
#endif

constexpr u32 n_codes = 256, missing_code = 255;  // core/grow/binned/bins.hpp
constexpr double tolerance_of_weight = 1e-12;     // core/grow/binned/grower.hpp
enum Kind : u8 { kind_leaf, kind_threshold, kind_one_against_rest };

// A row that was drawn for a tree.
struct alignas(8) Row {
    u32 row;
    u16 drawn;  // how often
    u16 label;
};

// One launch. The fields are those of hedgerow.gpu.growth.launch, in its order, eight bytes each.
struct Growth {
    // Training rows: a byte for each row and column, column after column; bins of columns that have no categories.
    const u8* codes;
    const i32* labels;
    const i64* bin_start;
    const double* least;
    const double* greatest;
    const u8* has_categories;
    i64 n_rows;
    i64 n_features;
    i64 n_classes;
    // Draws of rows.
    const double* cumulated;  // weights; null: all weights are equal
    const u64* draw_keys;     // of each tree
    i64 n_draws;
    i64 n_trees;
    u32* draws;         // how often each row was drawn, (n_trees, n_rows)
    u8* redrawn;        // trees with a draw that was rejected
    const i32* places;  // of drawn rows among those of all trees
    // Settings.
    i64 draws_splits;  // of trees: 0 none, 1 all, 2 every second one
    i64 n_tried;       // 0: all columns
    i64 n_tried_drawn;
    double least_rows;  // of a node that is split
    double least_leaf;  // rows of a branch
    double least_weight;
    double least_decrease;
    // Nodes of a level.
    Row* rows;
    Row* other_rows;
    u32* begin;
    u32* end;
    u64* key;
    i32* tree;
    u32* counts;
    i64 n_nodes;
    const u32* tree_weight;
    u32* lists;  // of nodes that may be split, (n_lists, n_nodes), by their number of rows
    u32* n_listed;
    const i64* limits;  // rows of the nodes of each list at most
    i64 n_lists;
    const u32* listed;  // the list of a launch
    i64 n_teams;
    i64 team;  // threads
    i64 team_bytes;
    i64 capacity;  // rows of its nodes, where they are small
    // Their splits.
    i32* feature;
    double* threshold;
    u8* kind;
    u32* n_left;
    u32* left_counts;
    const i32* n_split_before;
    // The next level.
    u32* child_begin;
    u32* child_end;
    u64* child_key;
    i32* child_tree;
    u32* child_counts;
    // All nodes, and rows that are walked down them.
    const double* X;
    const i64* row_numbers;
    i64 n_walked;
    const i64* first_child;
    const double* node_weight;
    const double* sizes;  // descending
    i64 n_sizes;
    double* folded;
    double* n_unseen;
};

// -- draws: core/base/random.hpp

struct Words {
    u32 word[4];
};

CALLED Words philox(Words counter, u64 key) {
    u32 low = (u32)key, high = (u32)(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const u64 a = u64{0xD2511F53} * counter.word[0];
        const u64 b = u64{0xCD9E8D57} * counter.word[2];
        counter = {{(u32)(b >> 32) ^ counter.word[1] ^ low, (u32)b, (u32)(a >> 32) ^ counter.word[3] ^ high, (u32)a}};
        low += 0x9E3779B9;
        high += 0xBB67AE85;
    }
    return counter;
}

DEVICE u64 child_key(u64 key, u64 number) {
    const Words words = philox({{(u32)number, (u32)(number >> 32), 0, 1}}, key);
    return words.word[0] | u64{words.word[1]} << 32;
}

DEVICE u64 draw_at(u64 key, u64 position) {
    const u64 block = position / 2;
    const Words words = philox({{(u32)block, (u32)(block >> 32), 0, 0}}, key);
    return position % 2 ? words.word[2] | u64{words.word[3]} << 32 : words.word[0] | u64{words.word[1]} << 32;
}

DEVICE double as_real(u64 bits) { return (double)(bits >> 11) * 0x1p-53; }
DEVICE bool is_rejected(u64 draw, u64 n) { return draw < n && draw < (0 - n) % n; }

struct Draws {
    u64 key, position;
    Words words;

    DEVICE explicit Draws(u64 key) : key(key), position(0), words() {}
    DEVICE u64 bits() {
        if (position % 2 == 0) {
            const u64 block = position / 2;
            words = philox({{(u32)block, (u32)(block >> 32), 0, 0}}, key);
        }
        return position++ % 2 ? words.word[2] | u64{words.word[3]} << 32 : words.word[0] | u64{words.word[1]} << 32;
    }
    DEVICE double real() { return as_real(bits()); }
    DEVICE u64 below(u64 n) {
        for (;;) {
            const u64 draw = bits();
            if (!is_rejected(draw, n)) return draw % n;
        }
    }
};

DEVICE u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 n_threads() { return (u64)gridDim.x * blockDim.x; }
