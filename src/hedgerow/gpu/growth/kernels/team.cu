// Threads that share a node, and the splits that they score and judge: core/grow/binned/best_split.hpp and
// drawn_split.hpp, for Gini gains of whole counts. Candidates are scored at once, then judged one after the other, as
// on the CPU.

struct Best {
    double value, threshold, share_left;
    i32 feature;
    u8 kind, last_left, missing;
};

// A candidate's gain as a fraction, and its code.
struct Candidate {
    double numerator, denominator, weight_left;
    u32 code, exists;
};

struct Notes {
    u64 top;          // the largest gain of a column, in bits that are ordered as it is
    u32 moved[2];     // rows, to either child
    u32 low, high;    // codes
    u32 any_missing;  // values of a column
    u32 is_close;     // whether candidates have to be judged one after the other
};

// Memory that the threads of a team share.
struct Team {
    u32 rank, size, mask;  // mask 0: the threads of a block
    Best* best;
    Notes* notes;
    Candidate* candidates;
    u32* cells;    // histogram: classes, then rows, of each code; small nodes: the code of each row
    u32* known;    // counts of the rows with a value, and their number
    u32* left;     // counts, and the number of rows that go to the first child
    u32* present;  // codes that occur
    u32* chosen;   // those of candidates that are judged
    u16* order;    // columns
    Row* rows;     // of a small node

    DEVICE void sync() const {
#ifdef __CUDACC__
        if (mask)
            __syncwarp(mask);
        else
            __syncthreads();
#endif
    }
};

struct NodeRows {
    u32 node, begin, n;
    const Row* rows;
    const u32* counts;
    double weight, tolerance;
};

struct Sum {
    template <class T>
    DEVICE T operator()(T a, T b) const {
        return a + b;
    }
};
struct Least {
    template <class T>
    DEVICE T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};
struct Greatest {
    template <class T>
    DEVICE T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

// Of the threads of a team in one warp, known to the first of them. All threads of the team are here.
template <class T, class Combine>
DEVICE T of_warp(const Team& team, T value, const Combine& combine) {
#ifdef __CUDACC__
    const u32 width = team.size < 32 ? team.size : 32;
    for (u32 step = width / 2; step > 0; step /= 2)
        value = combine(value, __shfl_down_sync(team.mask ? team.mask : ~0u, value, step, width));
#endif
    return value;
}

DEVICE void add_all(const Team& team, u32* sum, u32 value) {
    value = of_warp(team, value, Sum{});
    if (team.rank % 32 == 0 && value > 0) add_to(sum, value);
}

DEVICE u32 code_of(const Growth& g, i32 feature, u32 row) { return g.codes[feature * g.n_rows + row]; }

// Calls use(row, code) for each row of a node; several rows are read at once, as each read waits for the one before.
template <class Use>
DEVICE void for_each_row(const Growth& g, const Team& team, const NodeRows& node, i32 feature, const Use& use) {
    constexpr u32 abreast = 4;
    const u8* codes = g.codes + feature * g.n_rows;
    u32 i = team.rank;
    for (; i + (abreast - 1) * team.size < node.n; i += abreast * team.size) {
        Row rows[abreast];
        u32 found[abreast];
        for (u32 j = 0; j < abreast; ++j) rows[j] = node.rows[i + j * team.size];
        for (u32 j = 0; j < abreast; ++j) found[j] = codes[rows[j].row];
        for (u32 j = 0; j < abreast; ++j) use(rows[j], found[j]);
    }
    for (; i < node.n; i += team.size) use(node.rows[i], u32{codes[node.rows[i].row]});
}

// Scores the split whose first child has the counts part(k) of known[k]. `rows_left` counts if leaves hold several.
template <class Part>
DEVICE void score(const Growth& g, const u32* known, double rows_left, const Part& part, Candidate& out) {
    double weight, whole_weight;
    if (g.n_classes == 2) {
        const double first = part(0), second = part(1);
        weight = first + second;
        whole_weight = (double)known[0] + (double)known[1];
        const double difference = second * whole_weight - (double)known[1] * weight;
        out.numerator = 2 * difference * difference;
        out.denominator = whole_weight * (weight * (whole_weight - weight));
    } else {
        double squares = 0, rest_weight = 0, rest_squares = 0, whole_squares = 0;
        weight = whole_weight = 0;
        for (i64 k = 0; k < g.n_classes; ++k) {
            const double whole = known[k], own = part(k), rest = whole - own;
            weight += own;
            squares += own * own;
            rest_weight += rest;
            rest_squares += rest * rest;
            whole_weight += whole;
            whole_squares += whole * whole;
        }
        const double denominator = weight * rest_weight;
        const double whole_score = whole_weight > 0 ? whole_squares / whole_weight : 0.0;
        out.numerator = squares * rest_weight + rest_squares * weight - whole_score * denominator;
        out.denominator = denominator;
    }
    out.weight_left = weight;
    const double right = whole_weight - weight, rows_right = (double)known[g.n_classes] - rows_left;
    const bool counted = g.least_leaf > 1;
    const bool enough = (!counted || (rows_left >= g.least_leaf - 1e-9 && rows_right >= g.least_leaf - 1e-9)) &&
                        weight >= g.least_weight && right >= g.least_weight;
    out.exists = enough && weight > 0 && right > 0;
}

DEVICE double weight_of(const Growth& g, const u32* counts) {
    double sum = 0;
    for (i64 k = 0; k < g.n_classes; ++k) sum += counts[k];
    return sum;
}

// By one thread: whether a candidate beats the best so far, which it then is.
DEVICE bool judge(const Growth& g, const Team& team, i32 feature, double tolerance, const Candidate& candidate) {
    Best& best = *team.best;
    const double bar = feature < best.feature ? best.value - tolerance : best.value + tolerance;
    if (!candidate.exists || !(candidate.numerator > bar * candidate.denominator)) return false;
    best.value = candidate.numerator / candidate.denominator;
    best.feature = feature;
    best.missing = team.notes->any_missing != 0;
    best.share_left = candidate.weight_left / weight_of(g, team.known);
    return true;
}

// A threshold midway between the values of two bins: node_threshold of core/grow/binned/apply_split.hpp.
DEVICE double middle(const Growth& g, i32 feature, u32 last_left, u32 first_right) {
    const double low = g.greatest[g.bin_start[feature] + last_left], high = g.least[g.bin_start[feature] + first_right];
    const double between = low / 2 + high / 2;
    return low <= between && between < high ? between : low;
}

DEVICE void set_threshold(const Growth& g, Best& best, u32 last_left, u32 first_right) {
    best.kind = kind_threshold;
    best.last_left = (u8)last_left;
    best.threshold = middle(g, best.feature, last_left, first_right);
}

DEVICE void set_category(Best& best, u32 code) {
    best.kind = kind_one_against_rest;
    best.last_left = (u8)code;
    best.threshold = code;
}

struct DrawnThreshold {
    u32 first_right;  // 0: there is none
    double threshold;
};

DEVICE DrawnThreshold draw_between(const Growth& g, i32 feature, u32 low, u32 high, double draw) {
    if (low >= high) return {0, 0};
    const double* least = g.least + g.bin_start[feature];
    const double value = least[low] * (1 - draw) + least[high] * draw;
    const double threshold = least[low] <= value && value < least[high] ? value : least[low];
    u32 first = low, n = high - low;  // the first of low .. high whose least value is greater
    while (n > 0) {
        const u32 half = n / 2;
        if (threshold < least[first + half]) {
            n = half;
        } else {
            first += half + 1;
            n -= half + 1;
        }
    }
    const double end = g.greatest[g.bin_start[feature] + first - 1];
    return {first, threshold < end ? end : threshold};
}

DEVICE u32 drawn_index(u32 n, double draw) {
    const u64 index = (u64)(draw * (double)n);
    return index < n - 1 ? (u32)index : n - 1;
}

DEVICE void judge_drawn(const Growth& g, const Team& team, const NodeRows& node, i32 feature, DrawnThreshold drawn) {
    if (team.rank == 0) {
        Candidate candidate;
        score(g, team.known, team.left[g.n_classes], [&](i64 k) { return (double)team.left[k]; }, candidate);
        if (judge(g, team, feature, node.tolerance, candidate)) {
            team.best->kind = kind_threshold;
            team.best->last_left = (u8)(drawn.first_right - 1);
            team.best->threshold = drawn.threshold;
        }
    }
    team.sync();
}
