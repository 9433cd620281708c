// SPDX-License-Identifier: LGPL-3.0-only
// Numbers as people read them: as in the command's tables.

export const percent = (part) => (part * 100).toFixed(1) + " %";

export function ratio(value) {
  return value > 999 ? "∞×" : value.toFixed(2) + "×";
}

/// Core-seconds as core-hours.
export function coreHours(seconds) {
  const hours = seconds / 3600;
  return hours >= 1000 ? grouped(Math.round(hours)) : hours >= 1 ? hours.toFixed(2) : hours.toFixed(4);
}

export function grouped(value) {
  const text = String(value);
  return text.length < 5 ? text : text.replace(/\B(?=(\d{3})+$)/g, " ");
}

/// "1.67× its share" in words, for users who cannot see the bar.
export function standing(row) {
  if (!(row.entitled > 0)) {
    return row.used > 0 ? "has no share and used " + percent(row.used) : "has no share";
  }
  return `used ${ratio(row.used / row.entitled)} its share: ${percent(row.used)} of ${percent(row.entitled)}`;
}

/// "12:04:31" of the reader's clock.
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();

/// "4d 19h", without the sign.
export function span(seconds) {
  const all = Math.round(Math.abs(seconds));
  const parts = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];
  const first = parts.findIndex(([size]) => all >= size);
  if (first < 0) {
    return "0s";
  }
  const [size, unit] = parts[first];
  const rest = first < 3 ? Math.floor((all % size) / parts[first + 1][0]) : 0;
  return Math.floor(all / size) + unit + (rest > 0 ? " " + rest + parts[first + 1][1] : "");
}
