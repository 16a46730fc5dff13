// Numbers as people read them: three digits and the unit that suits.

export function secondsText(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds >= 1000) return `${seconds.toFixed(0)} s`;
  if (seconds >= 1) return `${digits(seconds)} s`;
  return seconds >= 1e-3 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds * 1e6)} µs`;
}

export function bytesText(count: number | null | undefined): string {
  if (count === null || count === undefined) return "–";
  let amount = count;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (Math.abs(amount) < 999.5) return `${digits(amount)} ${unit}`;
    amount /= 1000;
  }
  return `${digits(amount)} TB`;
}

/** Formats peak bytes: those of the device, and of the host where it keeps anything. */
export function peaksText(peaks: Readonly<Record<string, number>>): string {
  const { device, host = 0 } = peaks;
  return host ? `${bytesText(device)}, host ${bytesText(host)}` : bytesText(device);
}

/** Formats the change of peaks. */
export function peaksChangeText(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>): string {
  const change = (space: string): number => (after[space] ?? 0) - (before[space] ?? 0);
  const host = change("host");
  return host ? `${changeText(change("device"))}, host ${changeText(host)}` : changeText(change("device"));
}

/** Formats bytes with their sign: `+1.2 MB`, `−3 kB`, `±0`. */
export function changeText(bytes: number): string {
  if (bytes === 0) return "±0";
  return `${bytes > 0 ? "+" : "−"}${bytesText(Math.abs(bytes))}`;
}

/** Formats seconds after over seconds before: `3.2 × faster`. */
export function ratioText(ratio: number): string {
  const size = ratio < 1 ? 1 / ratio : ratio;
  if (size < 1.005) return "as fast";
  return `${digits(size)} × ${ratio < 1 ? "faster" : "slower"}`;
}

/** Formats a number with three digits, without trailing zeros. */
export function digits(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** Formats sizes: `B=64, T=200`. */
export function sizesText(sizes: Readonly<Record<string, number>>): string {
  return Object.entries(sizes)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
