import { text } from 'node:stream/consumers';

import { followInbox, type Drive } from './agents/driver.ts';
import { drivers } from './agents/drivers.ts';

/** `node drive.js NAME < drive.json`, inside a session: starts a harness and speaks its protocol. Its exit code is the harness's. */
async function main(name: string | undefined): Promise<number> {
  const driver = name === undefined ? undefined : drivers[name];
  if (!driver) {
    process.stderr.write(
      `no driver is called ${name ?? '(none given)'}; there are: ${Object.keys(drivers).join(', ')}\n`,
    );
    return 64;
  }
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => ending.abort());
  const drive = JSON.parse(await text(process.stdin)) as Drive;
  return driver(drive, {
    ending: ending.signal,
    print: (line) => void process.stdout.write(`${line}\n`),
    messages: (onMessage) => followInbox(drive.inbox, onMessage),
  });
}

process.exitCode = await main(process.argv[2]);
