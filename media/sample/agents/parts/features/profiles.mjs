/** The outline seen from four sides: how far from each edge the ink begins, and how much ink each row and column has. */
export function extract(pixels) {
  const width = 48;
  const values = new Float32Array((pixels.length / 64) * width);
  for (let row = 0; row < pixels.length / 64; row += 1) {
    for (let line = 0; line < 8; line += 1) {
      const across = Array.from({ length: 8 }, (_, at) => pixels[row * 64 + line * 8 + at]);
      const down = Array.from({ length: 8 }, (_, at) => pixels[row * 64 + at * 8 + line]);
      [across, down].forEach((strip, way) => {
        const to = row * width + way * 24 + line;
        values[to] = depth(strip);
        values[to + 8] = depth(strip.reverse());
        values[to + 16] = strip.reduce((sum, ink) => sum + ink, 0) / 8;
      });
    }
  }
  return { values, width };
}

/** Steps of white before the ink, in eighths; grey counts in part. */
function depth(strip) {
  let seen = 0;
  let white = 0;
  for (const ink of strip) {
    seen = Math.max(seen, ink);
    white += 1 - seen;
  }
  return white / 8;
}
