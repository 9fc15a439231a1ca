/** Where a command writes. `print` answers whether the text has gone out: false once the reader has closed the pipe. */
export interface Output {
  print(text: string | Uint8Array): Promise<boolean>;
  /** To stderr: what is not the answer. Never fails. */
  remark(text: string): Promise<void>;
}

function writeTo(
  stream: NodeJS.WritableStream & { readonly destroyed?: boolean },
  data: string | Uint8Array,
): Promise<boolean> {
  return new Promise((resolve) => {
    if (stream.destroyed) return resolve(false);
    stream.write(data, (error) => resolve(!error));
  });
}

/** This process's stdout and stderr. A closed pipe (`hma archive | head -1`) silences, it doesn't crash. */
export function processOutput(): Output {
  const ignore = () => undefined; // the write's own callback tells
  process.stdout.on('error', ignore);
  process.stderr.on('error', ignore);
  return {
    print: (text) => writeTo(process.stdout, text),
    async remark(text) {
      await writeTo(process.stderr, text);
    },
  };
}
