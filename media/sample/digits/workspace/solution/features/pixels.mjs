/** The ink of each pixel, as it is. */
export function extract(pixels) {
  return { values: pixels, width: 64 };
}
