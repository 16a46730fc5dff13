// Rectangles with round corners.

/** Returns the path of a rectangle. */
export function rounded(x: number, y: number, width: number, height: number, radius: number): string {
  const r = Math.min(radius, width / 2, height / 2);
  const [across, down] = [width - 2 * r, height - 2 * r];
  return (
    `M${x + r},${y}h${across}a${r},${r} 0 0 1 ${r},${r}v${down}a${r},${r} 0 0 1 ${-r},${r}` +
    `h${-across}a${r},${r} 0 0 1 ${-r},${-r}v${-down}a${r},${r} 0 0 1 ${r},${-r}z`
  );
}
