// Splits of a node of many rows, by a histogram of their codes.

template <class Takes>
DEVICE void add_rows(const Growth& g, const Team& team, const NodeRows& node, i32 feature, const Takes& takes,
                     u32* sums) {
    u32 n_rows = 0, both[2] = {0, 0};
    for_each_row(g, team, node, feature, [&](const Row& row, u32 code) {
        if (!takes(code)) return;
        ++n_rows;
        if (g.n_classes != 2) {
            add_to(sums + row.label, row.drawn);
        } else {
            both[0] += row.label ? 0 : row.drawn;
            both[1] += row.label ? row.drawn : 0;
        }
    });
    add_all(team, sums + g.n_classes, n_rows);
    if (g.n_classes != 2) return;
    add_all(team, sums, both[0]);
    add_all(team, sums + 1, both[1]);
}

struct ManyRows {
    DEVICE static u32* cell(const Team& team, u32 k, u32 code) { return team.cells + k * n_codes + code; }

    DEVICE static void read(const Growth& g, const Team& team, const NodeRows& node, i32 feature) {
        const bool counting = g.least_leaf > 1;
        const u32 n_kinds = g.n_classes + counting;
        for (u32 i = team.rank; i < n_kinds * n_codes; i += team.size) team.cells[i] = 0;
        for (u32 i = team.rank; i < n_codes / 32; i += team.size) team.present[i] = 0;
        if (team.rank == 0) team.notes->any_missing = 0;
        team.sync();
        for_each_row(g, team, node, feature, [&](const Row& row, u32 code) {
            add_to(cell(team, row.label, code), row.drawn);
            if (counting) add_to(cell(team, g.n_classes, code), 1);
            if (!(team.present[code / 32] >> code % 32 & 1)) set_bits(team.present + code / 32, 1u << code % 32);
        });
        team.sync();
        for (u32 k = team.rank; k < g.n_classes + 1; k += team.size) {
            const u32 whole = k == g.n_classes ? node.n : node.counts[k];
            const u32 missing = k < n_kinds ? *cell(team, k, missing_code) : 0;
            team.known[k] = whole - missing;
            if (k < g.n_classes && missing) team.notes->any_missing = 1;
        }
        team.sync();
    }

    DEVICE static u32 score_all(const Growth& g, const Team& team, const NodeRows& node, bool by_category) {
        const bool counting = g.least_leaf > 1;
        if (!by_category) cumulate(team, g.n_classes + counting);
        for (u32 code = team.rank; code < missing_code; code += team.size) {
            Candidate& candidate = team.candidates[code];
            candidate.code = code;
            if (!(team.present[code / 32] >> code % 32 & 1)) continue;
            const double rows_left = counting ? *cell(team, g.n_classes, code) : 0;
            score(g, team.known, rows_left, [&](i64 k) { return (double)*cell(team, k, code); }, candidate);
        }
        choose(team, node.tolerance);
        return n_codes;
    }

    template <class Use>
    DEVICE static void for_each(const Team& team, u32, const Use& use) {
        for (u32 word = 0; word < n_codes / 32; ++word)
            for (u32 rest = team.present[word]; rest != 0; rest &= rest - 1) {
                const u32 code = 32 * word + lowest_bit(rest);
                if (code != missing_code) use(team.candidates[code]);
            }
    }

    template <class Use>
    DEVICE static void for_each_top(const Team& team, u32, const Use& use) {
        for (u32 word = 0; word < n_codes / 32; ++word)
            for (u32 rest = team.chosen[word]; rest != 0; rest &= rest - 1) {
                const u32 code = 32 * word + lowest_bit(rest);
                use(team.candidates[code], next_present(team, code));
            }
    }

    DEVICE static void search_drawn(const Growth& g, const Team& team, const NodeRows& node, i32 feature, double draw) {
        if (team.rank == 0) {
            team.notes->low = missing_code;
            team.notes->high = 0;
            team.notes->any_missing = 0;
        }
        for (u32 k = team.rank; k < g.n_classes + 1; k += team.size) {
            team.known[k] = 0;
            team.left[k] = 0;
        }
        team.sync();
        u32 low = missing_code, high = 0;
        bool any_missing = false;
        for_each_row(g, team, node, feature, [&](const Row&, u32 code) {
            if (code < low) low = code;
            if (code != missing_code && code > high) high = code;
            any_missing |= code == missing_code;
        });
        low = of_warp(team, low, Least{});
        high = of_warp(team, high, Greatest{});
        if (team.rank % 32 == 0) {
            lower(&team.notes->low, low);
            raise(&team.notes->high, high);
        }
        if (any_missing) team.notes->any_missing = 1;
        team.sync();
        const DrawnThreshold drawn = draw_between(g, feature, team.notes->low, team.notes->high, draw);
        if (drawn.first_right == 0) {
            team.sync();  // before the notes are set anew
            return;
        }
        add_rows(g, team, node, feature, [&](u32 code) { return code < drawn.first_right; }, team.left);
        if (team.notes->any_missing)
            add_rows(g, team, node, feature, [](u32 code) { return code == missing_code; }, team.known);
        team.sync();
        for (u32 k = team.rank; k < g.n_classes + 1; k += team.size)
            team.known[k] = (k == g.n_classes ? node.n : node.counts[k]) - team.known[k];
        team.sync();
        judge_drawn(g, team, node, feature, drawn);
    }

private:
    static constexpr u64 sign = u64{1} << 63;
    DEVICE static double gain_of(const Candidate& candidate) { return candidate.numerator / candidate.denominator; }
    DEVICE static u64 ordered(double value) {
        const u64 bits = bits_of(value);
        return bits & sign ? ~bits : bits | sign;
    }
    DEVICE static double unordered(u64 bits) { return as_double(bits & sign ? bits ^ sign : ~bits); }

    // Marks the candidates that have to be judged one after the other: those within half a tolerance of the top, as
    // long as none is half to three tolerances below it. One that is further below can't stand against the first of
    // them, however many candidates it has beaten by then, and none beats that one; so the answer is that of judging
    // them all.
    DEVICE static void choose(const Team& team, double tolerance) {
        const auto present = [&](u32 code) { return team.present[code / 32] >> code % 32 & 1; };
        for (u32 i = team.rank; i < n_codes / 32; i += team.size) team.chosen[i] = 0;
        if (team.rank == 0) {
            team.notes->top = 0;
            team.notes->is_close = 0;
        }
        team.sync();
        u64 top = 0;
        for (u32 code = team.rank; code < missing_code; code += team.size)
            if (present(code) && team.candidates[code].exists)
                top = Greatest{}(top, ordered(gain_of(team.candidates[code])));
        top = of_warp(team, top, Greatest{});
        if (team.rank % 32 == 0) raise(&team.notes->top, top);
        team.sync();
        const double greatest = unordered(team.notes->top);
        for (u32 code = team.rank; code < missing_code; code += team.size) {
            if (!present(code) || !team.candidates[code].exists) continue;
            const double gain = gain_of(team.candidates[code]);
            if (gain >= greatest - tolerance / 2)
                set_bits(team.chosen + code / 32, 1u << code % 32);
            else if (gain >= greatest - 3 * tolerance)
                team.notes->is_close = 1;
        }
        team.sync();
        if (!team.notes->is_close) return;
        for (u32 i = team.rank; i < n_codes / 32; i += team.size)
            team.chosen[i] = team.present[i] & (i == missing_code / 32 ? ~(1u << missing_code % 32) : ~0u);
        team.sync();
    }

    DEVICE static u32 next_present(const Team& team, u32 code) {
        u32 word = (code + 1) / 32;
        u32 rest = team.present[word] & ~0u << (code + 1) % 32;
        while (rest == 0 && ++word < n_codes / 32) rest = team.present[word];
        return rest ? 32 * word + lowest_bit(rest) : missing_code;
    }

    // Sums of each kind up to each code.
    DEVICE static void cumulate(const Team& team, u32 n_kinds) {
        constexpr u32 run = 16, n_runs = n_codes / run;
        for (u32 i = team.rank; i < n_kinds * n_runs; i += team.size)
            for (u32 code = 1; code < run; ++code) team.cells[i * run + code] += team.cells[i * run + code - 1];
        team.sync();
        for (u32 kind = team.rank; kind < n_kinds; kind += team.size)
            for (u32 i = 1; i < n_runs; ++i) *cell(team, kind, i * run + run - 1) += *cell(team, kind, i * run - 1);
        team.sync();
        for (u32 i = team.rank; i < n_kinds * n_runs; i += team.size)
            for (u32 code = 0; i % n_runs && code < run - 1; ++code)
                team.cells[i * run + code] += team.cells[i * run - 1];
        team.sync();
    }
};
