/** Where ink begins and ends: gradients by direction (8 of them), summed in 3×3 overlapping cells. As in HOG, in small. */
export function extract(pixels) {
  const directions = 8;
  const cells = 3;
  const width = directions * cells * cells;
  const values = new Float32Array((pixels.length / 64) * width);
  for (let row = 0; row < pixels.length / 64; row += 1) {
    const ink = (x, y) => (x < 0 || y < 0 || x > 7 || y > 7 ? 0 : pixels[row * 64 + y * 8 + x]);
    for (let y = 0; y < 8; y += 1) {
      for (let x = 0; x < 8; x += 1) {
        const dx = ink(x + 1, y) - ink(x - 1, y);
        const dy = ink(x, y + 1) - ink(x, y - 1);
        const strength = Math.hypot(dx, dy);
        if (strength === 0) continue;
        const turn = (Math.atan2(dy, dx) / (2 * Math.PI) + 1) * directions;
        const low = Math.floor(turn);
        for (let cy = 0; cy < cells; cy += 1) {
          for (let cx = 0; cx < cells; cx += 1) {
            const near =
              Math.max(0, 1 - Math.abs(x - 1 - 2.5 * cx) / 2.5) * Math.max(0, 1 - Math.abs(y - 1 - 2.5 * cy) / 2.5);
            const to = row * width + (cy * cells + cx) * directions;
            values[to + (low % directions)] += near * strength * (low + 1 - turn);
            values[to + ((low + 1) % directions)] += near * strength * (turn - low);
          }
        }
      }
    }
  }
  return { values, width };
}
