// Splits of a node of few rows: each thread goes through all of them.

struct FewRows {
    DEVICE static void read(const Growth& g, const Team& team, const NodeRows& node, i32 feature) {
        for (u32 i = team.rank; i < node.n; i += team.size) team.cells[i] = code_of(g, feature, team.rows[i].row);
        team.sync();
        for (u32 k = team.rank; k < g.n_classes + 1; k += team.size) {
            u32 missing = 0;
            for (u32 i = 0; i < node.n; ++i)
                if (team.cells[i] == missing_code)
                    missing += k == g.n_classes ? 1 : team.rows[i].label == k ? team.rows[i].drawn : 0;
            team.known[k] = (k == g.n_classes ? node.n : node.counts[k]) - missing;
            if (k == g.n_classes) team.notes->any_missing = missing;
        }
        team.sync();
    }

    // Every thread finds out by itself: there are a few rows.
    DEVICE static void range(const Team& team, const NodeRows& node, u32& low, u32& high) {
        low = missing_code;
        high = 0;
        for (u32 i = 0; i < node.n; ++i) {
            const u32 code = team.cells[i];
            if (code < low) low = code;
            if (code != missing_code && code > high) high = code;
        }
    }

    template <class Takes>
    DEVICE static void add_up(const Growth& g, const Team& team, const NodeRows& node, const Takes& takes, u32* sums) {
        for (u32 k = team.rank; k < g.n_classes + 1; k += team.size) {
            u32 sum = 0;
            for (u32 i = 0; i < node.n; ++i)
                if (takes(team.cells[i]))
                    sum += k == g.n_classes ? 1 : team.rows[i].label == k ? team.rows[i].drawn : 0;
            sums[k] = sum;
        }
        team.sync();
    }

    // Candidates in the order of their codes, and their number: those of equal codes are the same.
    DEVICE static u32 score_all(const Growth& g, const Team& team, const NodeRows& node, bool by_category) {
        for (u32 i = team.rank; i < node.n; i += team.size) team.candidates[i].code = missing_code;
        team.sync();
        for (u32 i = team.rank; i < node.n; i += team.size) {
            const u32 code = team.cells[i];
            if (code == missing_code) continue;
            u32 rank = 0, rows_left = 0, both[2] = {0, 0};
            bool first = true;
            for (u32 j = 0; j < node.n; ++j) {
                const u32 other = team.cells[j];
                rank += other < code;
                first &= other != code || j >= i;
                const bool goes_left = by_category ? other == code : other <= code;
                rows_left += goes_left;
                if (goes_left) both[team.rows[j].label != 0] += team.rows[j].drawn;
            }
            if (!first) continue;
            Candidate& candidate = team.candidates[rank];
            candidate.code = code;
            if (g.n_classes == 2) {
                score(g, team.known, rows_left, [&](i64 k) { return (double)(k ? both[1] : both[0]); }, candidate);
                continue;
            }
            const auto part = [&](i64 k) {
                u32 sum = 0;
                for (u32 j = 0; j < node.n; ++j) {
                    const u32 other = team.cells[j];
                    if ((by_category ? other == code : other <= code) && team.rows[j].label == k)
                        sum += team.rows[j].drawn;
                }
                return (double)sum;
            };
            score(g, team.known, rows_left, part, candidate);
        }
        team.sync();
        return node.n;
    }

    // Calls use(candidate) for each code that occurs, ascending.
    template <class Use>
    DEVICE static void for_each(const Team& team, u32 n, const Use& use) {
        for (u32 i = 0; i < n; ++i)
            if (team.candidates[i].code != missing_code) use(team.candidates[i]);
    }

    // Calls use(candidate, next code that occurs) for each that may be the best.
    template <class Use>
    DEVICE static void for_each_top(const Team& team, u32 n, const Use& use) {
        const Candidate* last = nullptr;
        for_each(team, n, [&](const Candidate& candidate) {
            if (last) use(*last, candidate.code);
            last = &candidate;
        });
        if (last) use(*last, missing_code);
    }

    DEVICE static void search_drawn(const Growth& g, const Team& team, const NodeRows& node, i32 feature, double draw) {
        read(g, team, node, feature);
        u32 low, high;
        range(team, node, low, high);
        const DrawnThreshold drawn = draw_between(g, feature, low, high, draw);
        if (drawn.first_right == 0) {
            team.sync();  // before the codes of another column are read
            return;
        }
        add_up(g, team, node, [&](u32 code) { return code < drawn.first_right; }, team.left);
        judge_drawn(g, team, node, feature, drawn);
    }
};
