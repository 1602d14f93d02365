// Walks rows down the trees of a model and finishes its answers, as the core does: same branches, same additions in the
// same order. A row is an array of numbers, one for each column: category codes, and NaN where a value is missing.
//
// new hedgerow.Walker(model).answer(row), with `model` from hedgerow.report.whatif.whatif_data.
(() => {
  "use strict";
  const hedgerow = (globalThis.hedgerow ??= {});
  const LEAF = 0, THRESHOLD = 1, ONE_AGAINST_REST = 2, SUBSET = 3, MULTIWAY = 4, OBLIQUE = 5;
  const SPREAD = 0, FIRST_CHILD = 1, OWN_BRANCH = 3;
  const LEAF_FEATURE = -1;
  const NO_CHILD = -1;
  const TIE = 1e-12; // sums over trees that differ by less are equal
  const DOWN = 2 ** -40; // scales weights whose sum overflows

  // --- Arrays

  const TYPES = {
    u1: Uint8Array, u2: Uint16Array, i1: Int8Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array,
  };
  const READ = {
    u1: "getUint8", u2: "getUint16", i1: "getInt8", i2: "getInt16", i4: "getInt32", f4: "getFloat32", f8: "getFloat64",
  };

  function decode({ n, type, base64 }) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const array = new TYPES[type](n), size = array.BYTES_PER_ELEMENT, read = READ[type];
    for (let i = 0; i < n; i++) array[i] = view[read](i * size, true); // little-endian on any machine
    return array;
  }

  // What `pack` of packing.py made: numbers, or an index into the different ones.
  function unpack(packed) {
    if (!packed.of) return decode(packed);
    const values = decode(packed.of);
    const array = new values.constructor(packed.n);
    if (!packed.index) return array.fill(values[0]);
    const index = decode(packed.index);
    for (let i = 0; i < array.length; i++) array[i] = values[index[i]];
    return array;
  }

  // Positions of parts of the given sizes: 0, and the sum up to each.
  function starts(sizes) {
    const found = new Float64Array(sizes.length + 1);
    sizes.forEach((size, i) => { found[i + 1] = found[i] + size; });
    return found;
  }

  // --- Trees

  class Forest {
    constructor(packed) {
      this.treeStart = starts(unpack(packed.tree_sizes));
      this.nTrees = this.treeStart.length - 1;
      this.feature = unpack(packed.feature);
      this.nNodes = this.feature.length;
      this.threshold = this.#ofInner(packed.threshold, Float64Array, NaN);
      this.firstChild = this.#ofInner(packed.first_child, Int32Array, 0);
      this.kind = packed.kind
        ? this.#ofInner(packed.kind, Uint8Array, LEAF)
        : Uint8Array.from(this.feature, (feature) => (feature === LEAF_FEATURE ? LEAF : THRESHOLD));
      this.missing = packed.missing ? this.#ofInner(packed.missing, Uint8Array, SPREAD) : null;
      if (packed.kind) {
        this.payload = this.#ofInner(packed.payload, Int32Array, -1);
        this.payloadStart = unpack(packed.payload_start);
        this.payloadCodes = unpack(packed.payload_codes);
        this.payloadWeights = unpack(packed.payload_weights);
        this.payloadMeans = packed.payload_means ? unpack(packed.payload_means) : null;
      }
      this.#numberLeaves();
      this.nChildren = Int32Array.from(this.kind, (_, node) => this.#countChildren(node));
      this.weight = packed.weight ? unpack(packed.weight) : this.#sumWeights(unpack(packed.leaf_weight));
    }

    // An array with an entry for every node from one with an entry for every node that splits.
    #ofInner(packed, type, otherwise) {
      const given = unpack(packed), all = new type(this.nNodes).fill(otherwise);
      for (let node = 0, at = 0; node < this.nNodes; node++)
        if (this.feature[node] !== LEAF_FEATURE) all[node] = given[at++];
      return all;
    }

    #numberLeaves() {
      this.leafOf = new Int32Array(this.nNodes).fill(-1); // among the leaves of all trees
      this.leafStart = new Float64Array(this.nTrees + 1);
      let leaf = 0;
      for (let tree = 0; tree < this.nTrees; tree++) {
        for (let node = this.treeStart[tree]; node < this.treeStart[tree + 1]; node++)
          if (this.kind[node] === LEAF) this.leafOf[node] = leaf++;
        this.leafStart[tree + 1] = leaf;
      }
    }

    #countChildren(node) {
      if (this.kind[node] === LEAF) return 0;
      let n = 2;
      if (this.kind[node] === MULTIWAY) {
        const [begin, end] = this.#payloadOf(node);
        n = 1;
        for (let i = begin; i < end; i++) n = Math.max(n, this.payloadCodes[i] + 1);
      }
      return n + (this.missing?.[node] === OWN_BRANCH ? 1 : 0);
    }

    #sumWeights(ofLeaves) {
      const weight = new Float64Array(this.nNodes);
      for (let tree = 0; tree < this.nTrees; tree++) {
        const root = this.treeStart[tree];
        for (let node = this.treeStart[tree + 1] - 1; node >= root; node--) { // children follow their parents
          if (this.kind[node] === LEAF) { weight[node] = ofLeaves[this.leafOf[node]]; continue; }
          const first = root + this.firstChild[node];
          for (let child = first; child < first + this.nChildren[node]; child++) weight[node] += weight[child];
        }
      }
      return weight;
    }

    #payloadOf(node) {
      const number = this.payload[node];
      return [this.payloadStart[number], this.payloadStart[number + 1]];
    }

    // Columns that a node tests.
    featuresOf(node) {
      if (this.kind[node] !== OBLIQUE) return [this.feature[node]];
      return Array.from(this.payloadCodes.subarray(...this.#payloadOf(node)));
    }

    // Weights of `featuresOf` in an oblique split.
    weightsOf(node) {
      return Array.from(this.payloadWeights.subarray(...this.#payloadOf(node)));
    }

    // The child of a category, NO_CHILD where no training row had it.
    childOfCode(node, code) {
      if (this.kind[node] === ONE_AGAINST_REST) return code === this.threshold[node] ? 0 : 1;
      const [begin, end] = this.#payloadOf(node);
      const perWord = this.kind[node] === SUBSET ? 32 : 1;
      if (!(code >= 0 && code < (end - begin) * perWord) || code !== Math.floor(code)) return NO_CHILD;
      if (this.kind[node] === MULTIWAY) return this.payloadCodes[begin + code];
      return (this.payloadCodes[begin + (code >> 5)] >>> (code & 31)) & 1 ? 0 : 1;
    }

    // The child that a value takes; NO_CHILD where it is missing or has no branch.
    #branch(node, row) {
      const kind = this.kind[node];
      if (kind === OBLIQUE) {
        const [begin, end] = this.#payloadOf(node);
        let sum = 0, nKnown = 0;
        for (let i = begin; i < end; i++) nKnown += !Number.isNaN(row[this.payloadCodes[i]]);
        for (let i = begin; i < end; i++) {
          const value = row[this.payloadCodes[i]], replaced = this.payloadMeans && nKnown > 0 && Number.isNaN(value);
          sum += this.payloadWeights[i] * (replaced ? this.payloadMeans[i] : value);
        }
        return Number.isNaN(sum) ? NO_CHILD : sum <= this.threshold[node] ? 0 : 1;
      }
      const value = row[this.feature[node]];
      if (Number.isNaN(value)) return NO_CHILD;
      if (kind === THRESHOLD) return value <= this.threshold[node] ? 0 : 1;
      return this.childOfCode(node, value);
    }

    // As #branch, with the node's policy for missing values; NO_CHILD where the row is to be spread.
    childOf(node, row) {
      const child = this.#branch(node, row);
      if (child !== NO_CHILD || this.missing === null) return child;
      switch (this.missing[node]) {
        case SPREAD: return NO_CHILD;
        case FIRST_CHILD: return 0;
        default: return this.nChildren[node] - 1;
      }
    }

    // Calls use(child, part) with the parts of a weight that a node spreads, in proportion to training weights.
    #eachPart(root, node, weight, use) {
      const first = root + this.firstChild[node], n = this.nChildren[node];
      const add = (scale) => {
        let total = 0;
        for (let child = first; child < first + n; child++) total += scale * this.weight[child];
        return total;
      };
      let scale = 1, total = add(scale);
      if (total === Infinity) total = add((scale = DOWN));
      for (let child = first; child < first + n; child++) {
        const part = (total > 0 ? (scale * this.weight[child]) / total : 1 / n) * weight;
        if (part > 0) use(child, part);
      }
    }

    // The leaf of a row that is not spread, numbered over all trees; −1 where it is.
    leaf(tree, row) {
      const { kind, feature, threshold, firstChild } = this, root = this.treeStart[tree];
      let node = root;
      while (kind[node] !== LEAF) {
        const value = kind[node] === THRESHOLD ? row[feature[node]] : NaN;
        let child = value <= threshold[node] ? 0 : 1;
        if (value !== value && (child = this.childOf(node, row)) === NO_CHILD) return -1;
        node = root + firstChild[node] + child;
      }
      return this.leafOf[node];
    }

    // Leaves of a tree that a row reaches, ascending, with their weights: [[leaf, weight], …], numbered over all trees.
    // visit(node, weight, child) is called for every node on its way; child is absolute, −1 where it is spread.
    reach(tree, row, visit = null) {
      const root = this.treeStart[tree], reached = [], waiting = [[root, 1]];
      while (waiting.length) {
        let [node, weight] = waiting.pop();
        for (;;) {
          if (this.kind[node] === LEAF) {
            reached.push([this.leafOf[node], weight]);
            visit?.(node, weight, -1);
            break;
          }
          const child = this.childOf(node, row);
          visit?.(node, weight, child === NO_CHILD ? -1 : root + this.firstChild[node] + child);
          if (child === NO_CHILD) {
            this.#eachPart(root, node, weight, (next, part) => waiting.push([next, part]));
            break;
          }
          node = root + this.firstChild[node] + child;
        }
      }
      return reached.sort((one, other) => one[0] - other[0]);
    }

    // The leaf of a tree that a row reaches, numbered within the tree; where it is spread, down the heaviest child.
    route(tree, row) {
      const root = this.treeStart[tree];
      let node = root;
      while (this.kind[node] !== LEAF) {
        let child = this.childOf(node, row);
        const first = root + this.firstChild[node];
        if (child === NO_CHILD) {
          child = 0;
          for (let other = 1; other < this.nChildren[node]; other++)
            if (this.weight[first + other] > this.weight[first + child]) child = other;
        }
        node = first + child;
      }
      return this.leafOf[node] - this.leafStart[tree];
    }
  }

  // --- Leaf tables

  const LINK = {
    identity: (value) => value,
    log: Math.log,
    entropy: (value) => (value > 0 ? -value * Math.log2(value) : 0),
  };
  const NEUTRAL = { sum: 0, min: Infinity, max: -Infinity };

  class LeafTable {
    constructor(packed) {
      this.ops = packed.ops;
      this.links = packed.links.map((name) => LINK[name]);
      this.n = packed.ops.length;
      this.values = unpack(packed.values);
      this.linked = Float64Array.from(this.values, (value, i) => this.links[i % this.n](value));
      this.rowOf = packed.row_of ? unpack(packed.row_of) : null;
    }

    start() {
      return this.ops.map((op) => NEUTRAL[op]);
    }

    #rowOf(leaf) {
      return (this.rowOf ? this.rowOf[leaf] : leaf) * this.n;
    }

    #fold(folded, c, linked, treeWeight) {
      if (this.ops[c] === "sum") folded[c] += treeWeight * linked;
      else folded[c] = this.ops[c] === "min" ? Math.min(folded[c], linked) : Math.max(folded[c], linked);
    }

    // Folds one tree into `folded`, of which a row reaches one leaf.
    addLeaf(folded, leaf, treeWeight) {
      const at = this.#rowOf(leaf);
      for (let c = 0; c < this.n; c++) this.#fold(folded, c, this.linked[at + c], treeWeight);
    }

    // The same where it reaches several: the mean is formed before the link.
    addSpread(folded, reached, treeWeight) {
      for (let c = 0; c < this.n; c++) {
        let mean = 0;
        for (const [leaf, weight] of reached) mean += weight * this.values[this.#rowOf(leaf) + c];
        this.#fold(folded, c, this.links[c](mean), treeWeight);
      }
    }
  }

  // --- Finishes

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const argmax = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
  const argmin = (values) => values.reduce((best, value, i) => (value < values[best] ? i : best), 0);
  const clip = (value) => Math.min(Math.max(value, 0), 1);

  function softmax(logs) {
    const highest = Math.max(...logs), shares = logs.map((log) => Math.exp(log - highest)), total = sum(shares);
    return shares.map((share) => share / total);
  }

  const logSigmoid = (x) => (x < 0 ? x - Math.log1p(Math.exp(x)) : -Math.log1p(Math.exp(-x)));

  // Steps of codegen/finish.py and whatif/finish.py, by name.
  const STEPS = {
    divide: (x, { by }) => x.map((value) => value / by),
    normalise(x, { if_zero: ifZero }) {
      const total = sum(x);
      return x.map((value) => (ifZero === null || total > 0 ? value / total : ifZero));
    },
    scale: (x, { factor, offset }) => x.map((value) => factor * value + offset),
    power: (x, { exponent }) => x.map((value) => value ** exponent),
    multiply: (x, { factors }) => x.map((value, i) => value * factors[i]),
    add: (x, { terms }) => x.map((value, i) => value + (terms[i] ?? -Infinity)),
    softmax,
    dividebylast(x, { if_zero: ifZero }) {
      const total = x.at(-1);
      return x.slice(0, -1).map((value) => (total > 0 ? value / total : ifZero));
    },
    pignistic(x, { operation, prior }) {
      const join = operation === "sum" ? (one, other) => one + other : Math.min;
      const odds = [];
      for (let k = 0; 2 * k < x.length; k++) {
        const a = prior ? join(x[2 * k], prior[k][0]) : x[2 * k];
        const b = prior ? join(x[2 * k + 1], prior[k][1]) : x[2 * k + 1];
        odds.push(a - b + (Math.log1p(-Math.exp(b) / 2) - Math.log1p(-Math.exp(a) / 2)));
      }
      return softmax((odds.length === 1 ? [-odds[0], odds[0]] : odds).map(logSigmoid));
    },
  };

  const takeSteps = (folded, steps) => steps.reduce((x, step) => STEPS[step.do](x, step), folded);

  // Classes that no other dominates: hedgerow.credal.interval_dominance, strict.
  function undominated(bounds) {
    const best = Math.max(...bounds.map(([lower]) => lower));
    return bounds.map(([, upper]) => best <= upper + TIE);
  }

  const halves = (folded) => [folded.slice(0, folded.length / 2), folded.slice(folded.length / 2)];
  const pairs = (lower, upper) => lower.map((low, k) => [clip(low), clip(upper[k])]);

  function weighed(folded) {
    const n = (folded.length - 1) / 2, total = folded.at(-1), nothing = total <= 0;
    return {
      certain: folded.slice(0, n).map((value) => (nothing ? Number(n === 1) : value)),
      possible: folded.slice(n, 2 * n).map((value) => (nothing ? 1 : value)),
      total: nothing ? 1 : total,
    };
  }

  function shareBounds(folded) {
    const { certain, possible, total } = weighed(folded);
    return certain.map((value, k) => [value / total, possible[k] / total]);
  }

  function averageBounds(folded, nTrees) {
    return pairs(...halves(folded.map((value) => value / nTrees)));
  }

  // What hedgerow.credal.Conjunction calls reachable bounds; null where the trees have no distribution in common.
  function commonBounds(folded) {
    const [lower, upper] = halves(folded.map(clip)), low = sum(lower), high = sum(upper);
    if (lower.some((value, k) => value > upper[k] + TIE) || low > 1 + TIE || high < 1 - TIE) return null;
    const below = Math.max(1 - low, 0), above = Math.max(high - 1, 0);
    const tightLow = lower.map((value, k) => Math.max(value, upper[k] - above));
    const tightHigh = upper.map((value, k) => Math.max(tightLow[k], Math.min(value, lower[k] + below)));
    return pairs(tightLow, tightHigh);
  }

  // Aggregates of hedgerow.credal: [bounds, set] from the folded table.
  const AGGREGATES = {
    average(folded, nTrees) {
      const bounds = averageBounds(folded, nTrees);
      return [bounds, undominated(bounds)];
    },
    disjunction(folded) {
      const bounds = pairs(...halves(folded));
      return [bounds, undominated(bounds)];
    },
    conjunction(folded, nTrees) {
      const [both, sums] = halves(folded), bounds = commonBounds(both) ?? averageBounds(sums, nTrees);
      return [bounds, undominated(bounds)];
    },
    belief(folded) {
      const { certain, possible, total } = weighed(folded), most = Math.max(...certain);
      return [shareBounds(folded), possible.map((value) => most <= value + TIE * total)];
    },
    vote(folded) {
      const { possible, total } = weighed(folded), most = Math.max(...possible);
      return [shareBounds(folded), possible.map((value) => value >= most - TIE * total)];
    },
  };

  // --- Calibrated sets and intervals

  // Of each class: the sum over classes at least as probable, and their number.
  function ranked(probabilities) {
    const order = probabilities.map((_, k) => k).sort((k, j) => probabilities[j] - probabilities[k] || k - j);
    const upto = new Array(order.length), rank = new Array(order.length);
    let total = 0;
    order.forEach((k, at) => { upto[k] = total += probabilities[k]; rank[k] = at + 1; });
    for (let at = order.length - 2; at >= 0; at--) // of equally probable classes the last has them all
      if (probabilities[order[at]] === probabilities[order[at + 1]]) {
        upto[order[at]] = upto[order[at + 1]];
        rank[order[at]] = rank[order[at + 1]];
      }
    return [upto, rank];
  }

  // Scores of hedgerow.conformal, the larger the stranger.
  const SCORES = {
    lac: ({ probabilities }) => probabilities.map((share) => 1 - share),
    aps: ({ probabilities }) => ranked(probabilities)[0],
    raps({ probabilities }, { penalty, free }) {
      const [upto, rank] = ranked(probabilities);
      return upto.map((value, k) => value + penalty * Math.max(rank[k] - free, 0));
    },
    credalbounds({ bounds }) {
      if (bounds.length === 1) return [-bounds[0][1]];
      return bounds.map(([, upper], k) => Math.max(...bounds.filter((_, j) => j !== k).map(([low]) => low)) - upper);
    },
  };

  // Entry of the group of a row; the last is that of rows in none.
  function ofGroup(entries, { column, groups }, row) {
    const at = column < 0 ? -1 : groups.indexOf(row[column]);
    return entries[at < 0 ? entries.length - 1 : at];
  }

  function conformalSet(found, rule, row) {
    const scores = SCORES[rule.score](found, rule);
    const limits = ofGroup(rule.limits, rule, row).map((limit) => limit ?? Infinity);
    const set = scores.map((score, k) => score <= limits[k]);
    if (rule.allow_empty || set.some(Boolean)) return set;
    const least = Math.min(...scores);
    return scores.map((score) => score === least);
  }

  // Training targets in leaves: hedgerow.walk.quantiles.
  class LeafSamples {
    constructor(packed) {
      this.start = starts(unpack(packed.sizes));
      this.ranks = unpack(packed.ranks);
      this.shares = packed.shares ? unpack(packed.shares) : null;
      this.values = unpack(packed.values);
    }

    // The least target whose cumulated share reaches each probability; `reached` are the leaves of all trees.
    quantiles(reached, probabilities) {
      const weight = new Float64Array(this.values.length);
      let total = 0;
      for (const [leaf, share] of reached) {
        const begin = this.start[leaf], end = this.start[leaf + 1];
        total += share;
        for (let i = begin; i < end; i++)
          weight[this.ranks[i]] += this.shares ? share * this.shares[i] : share / (end - begin);
      }
      return probabilities.map((probability) => {
        let upto = 0, last = 0;
        for (let rank = 0; rank < weight.length; rank++) {
          if (weight[rank] === 0) continue;
          last = rank;
          upto += weight[rank];
          if (upto >= (probability - 1e-12) * total) break; // as the core: rounding may leave a sum a little short
        }
        return this.values[last];
      });
    }
  }

  // The interval of a regressor: two quantiles, or its value twice, moved as calibration asks for.
  function interval(found, { quantiles, moved }, reached, samples, row) {
    let ends = quantiles ? samples.quantiles(reached, quantiles) : [found.value, found.value];
    if (!moved) return ends;
    const [down, up] = ofGroup(moved.shifts, moved, row).map((shift) => shift ?? Infinity);
    let unit = 1;
    if (moved.floor !== null) unit = (moved.scale > 0 ? found.deviation / moved.scale : 1) + moved.floor;
    ends = [ends[0] - down * unit, ends[1] + up * unit];
    return ends[0] > ends[1] ? ends.fill((ends[0] + ends[1]) / 2) : ends;
  }

  // --- Models

  class Walker {
    constructor(model) {
      this.forest = new Forest(model.forest);
      this.tables = model.tables.map((table) => new LeafTable(table));
      this.treeWeights = model.tree_weights ? unpack(model.tree_weights) : null;
      this.samples = model.samples ? new LeafSamples(model.samples) : null;
      this.answers = model.answers;
    }

    #weight(tree) {
      return this.treeWeights ? this.treeWeights[tree] : 1;
    }

    // The answer about a row: {probabilities, code, bounds, set} of classes, {value, deviation, interval} of numbers.
    answer(row) {
      const folded = this.tables.map((table) => table.start()), all = [];
      for (let tree = 0; tree < this.forest.nTrees; tree++) {
        const leaf = this.forest.leaf(tree, row), weight = this.#weight(tree);
        const reached = leaf < 0 ? this.forest.reach(tree, row) : null;
        if (this.samples) all.push(...(reached ?? [[leaf, 1]])); // quantiles count every tree alike
        if (weight === 0) continue;
        this.tables.forEach((table, i) => {
          if (reached) table.addSpread(folded[i], reached, weight);
          else table.addLeaf(folded[i], leaf, weight);
        });
      }
      const { answers } = this, found = {};
      if (answers.probabilities) Object.assign(found, this.#classes(folded[0]));
      if (answers.bounds) {
        const { table, aggregate, n_trees: nTrees } = answers.bounds;
        [found.bounds, found.set] = AGGREGATES[aggregate](folded[table], nTrees);
      }
      if (answers.set) found.set = conformalSet(found, answers.set, row);
      if (answers.value) [found.value] = takeSteps(folded[0], answers.value.steps);
      if (answers.variance) {
        const nTrees = answers.variance.n_trees;
        const [mean, square, variance] = folded[answers.variance.table].map((value) => value / nTrees);
        found.deviation = Math.sqrt(variance + Math.max(square - mean ** 2, 0));
      }
      if (answers.interval) found.interval = interval(found, answers.interval, all, this.samples, row);
      return found;
    }

    #classes(folded) {
      const { steps, costs } = this.answers.probabilities, probabilities = takeSteps(folded, steps);
      if (!costs) return { probabilities, code: argmax(probabilities) };
      const expected = costs[0].map((_, j) => sum(probabilities.map((share, i) => share * costs[i][j])));
      return { probabilities, code: argmin(expected) };
    }

    // Leaf of a row in each tree, as `apply`.
    route(row) {
      return Array.from({ length: this.forest.nTrees }, (_, tree) => this.forest.route(tree, row));
    }

    // The nodes of one tree that a row visits: {node, weight, child}; child is −1 in leaves and where it is spread.
    path(tree, row) {
      const visits = [];
      this.forest.reach(tree, row, (node, weight, child) => visits.push({ node, weight, child }));
      return visits;
    }

    // Share of the trees whose paths test each column for this row: {column: share}.
    tested(row) {
      const counts = new Map();
      for (let tree = 0; tree < this.forest.nTrees; tree++) {
        const columns = new Set();
        this.forest.reach(tree, row, (node) => {
          if (this.forest.kind[node] === LEAF) return;
          for (const column of this.forest.featuresOf(node)) columns.add(column);
        });
        for (const column of columns) counts.set(column, (counts.get(column) ?? 0) + 1 / this.forest.nTrees);
      }
      return counts;
    }
  }

  hedgerow.Walker = Walker;
  hedgerow.kinds = { LEAF, THRESHOLD, ONE_AGAINST_REST, SUBSET, MULTIWAY, OBLIQUE, OWN_BRANCH };
})();
