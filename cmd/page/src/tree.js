// SPDX-License-Identifier: LGPL-3.0-only
// The share tree as the page keeps it: rows from events, their order, what of them is seen. Knows no element. A row
// without shares of its own (null) has those of its account.

const figures = ([shares, entitled, used, usage, level, factor, cores, waiting]) => ({
  shares, entitled, used, usage, level, factor, cores, waiting,
});

/// From event "tree". Rows stay in the order of the event; `children` are places in it. Of a large tree the event has the
/// rows that this reader opened: `below` counts the children of a row that there are, and `of` all rows.
export function treeOf(event) {
  const places = new Map();
  const roots = [];
  const rows = event.rows.map(([path, ...rest], place) => {
    const cut = path.lastIndexOf("/");
    places.set(path, place);
    return { path, name: path.slice(cut + 1), parentPath: cut < 0 ? "" : path.slice(0, cut), children: [], below: rest[8], ...figures(rest) };
  });
  rows.forEach((row, place) => {
    const parent = places.get(row.parentPath);
    row.depth = parent === undefined ? 0 : rows[parent].depth + 1;
    (parent === undefined ? roots : rows[parent].children).push(place);
  });
  const { revision, author, reason, time, now, all_core_s, of } = event;
  return { revision, author, reason, time, now, all_core_s, of, rows, roots, places };
}

/// A tree with what event "rows" changes.
export function changedTree(tree, event) {
  const rows = tree.rows.slice();
  for (const [place, ...rest] of event.rows) {
    rows[place] = { ...rows[place], ...figures(rest) };
  }
  return { ...tree, now: event.now, all_core_s: event.all_core_s, rows };
}

export const ratioOf = (row) => (row.entitled > 0 ? row.used / row.entitled : row.used > 0 ? Infinity : 0);

/// Siblings are sorted, so that the tree stays a tree.
export const orders = {
  tree: { words: "as in the file", by: null },
  ratio: { words: "most above its share", by: (a, b) => ratioOf(b) - ratioOf(a) },
  below: { words: "most below its share", by: (a, b) => ratioOf(a) - ratioOf(b) },
  used: { words: "most used", by: (a, b) => b.used - a.used },
  waiting: { words: "most waiting jobs", by: (a, b) => b.waiting - a.waiting },
  name: { words: "by name", by: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) },
};

/// Places whose path has the words, and all above them; null for no words.
function found(tree, words) {
  if (!words) {
    return null;
  }
  const wanted = words.toLowerCase();
  const kept = new Set();
  tree.rows.forEach((row, place) => {
    if (!row.path.toLowerCase().includes(wanted)) {
      return;
    }
    for (let at = place; at !== undefined && !kept.has(at); at = tree.places.get(tree.rows[at].parentPath)) {
      kept.add(at);
    }
  });
  return kept;
}

/// Places of the rows that are seen, from above. `open`: paths whose children are shown; a search opens all it keeps.
export function seenRows(tree, { order, search, open }) {
  const kept = found(tree, search);
  const by = orders[order].by;
  const seen = [];
  const sorted = (places) => {
    const some = places.filter((place) => !kept || kept.has(place));
    return by ? some.sort((a, b) => by(tree.rows[a], tree.rows[b]) || a - b) : some;
  };
  const stack = sorted(tree.roots).reverse();
  while (stack.length > 0) {
    const place = stack.pop();
    seen.push(place);
    if (kept || open.has(tree.rows[place].path)) {
      stack.push(...sorted(tree.rows[place].children).reverse());
    }
  }
  return seen;
}

/// What a reader sees first: all of a small tree, the upper two levels of a large one.
export function openAtFirst(tree, rowsMax = 60) {
  const open = new Set();
  for (const row of tree.rows) {
    if (row.children.length > 0 && (tree.rows.length <= rowsMax || (row.depth === 0 && tree.roots.length <= 20))) {
      open.add(row.path);
    }
  }
  return open;
}

export const openAll = (tree) => new Set(tree.rows.filter((row) => row.below > 0).map((row) => row.path));
