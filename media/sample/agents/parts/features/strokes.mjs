/** Products of neighbouring pixels: ink that goes on to the right, down, and along both diagonals is a stroke that way. */
export function extract(pixels) {
  const ways = [
    [1, 0],
    [0, 1],
    [1, 1],
    [-1, 1],
  ];
  const width = ways.length * 16;
  const values = new Float32Array((pixels.length / 64) * width);
  for (let row = 0; row < pixels.length / 64; row += 1) {
    ways.forEach(([dx, dy], way) => {
      for (let y = 0; y + dy < 8; y += 1) {
        for (let x = Math.max(0, -dx); x + Math.max(0, dx) < 8; x += 1) {
          const product = pixels[row * 64 + y * 8 + x] * pixels[row * 64 + (y + dy) * 8 + x + dx];
          values[row * width + way * 16 + (y >> 1) * 4 + (x >> 1)] += product;
        }
      }
    });
  }
  return { values, width };
}
