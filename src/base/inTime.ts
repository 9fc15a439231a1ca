/** What a work came to, or `late` where it takes longer than so many ms: it is not ended by that, and what comes of it later is lost. */
export async function inTime<Value>(work: Promise<Value>, ms: number): Promise<Value | 'late'> {
  const { promise, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(resolve, ms, 'late');
  work.catch(() => undefined); // one that fails after its time has been told of already
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
