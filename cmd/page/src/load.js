// SPDX-License-Identifier: LGPL-3.0-only
// The load of the last hour: points [at, cores in use, cores, waiting jobs], each of which holds until the next. Null
// figures: nobody knows them from then on.

const keptSeconds = 3600;
const spans = [120, 300, 900, 1800, keptSeconds];

/// With an event "load"; `heard`: milliseconds of this machine's steady clock.
export function loadOf(had, data, heard) {
  const points = data.whole || !had ? data.points : [...had.points.filter((point) => point[0] < data.points[0][0]), ...data.points];
  return { points: points.slice(placeAt(points, data.now - keptSeconds)), offset: data.now - heard / 1000 };
}

/// The last point that is not later; 0 if there is none.
export function placeAt(points, at) {
  let low = 0;
  let high = points.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    [low, high] = points[middle][0] <= at ? [middle, high] : [low, middle];
  }
  return low;
}

/// For the chart: times, and a column for each figure, up to now.
export function columns(points, now) {
  const last = points.at(-1);
  const all = last[0] < now ? [...points, [now, ...last.slice(1)]] : points;
  return [0, 1, 2, 3].map((column) => all.map((point) => point[column]));
}

/// The times that are shown: the last minutes that have all points, at most an hour.
export function shownTimes(points, now) {
  const span = spans.find((seconds) => points[0][0] >= now - seconds) ?? keptSeconds;
  return [now - span, now];
}
