// A harness that does nothing but renew its login so many times: node loginHarness.mjs FILE URL TIMES [pause|hang|torn]
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [file, url, times, how] = process.argv.slice(2);
for (let count = 0; count < Number(times); count++) {
  const { refresh } = JSON.parse(readFileSync(file, 'utf8'));
  const reply = await fetch(url, { method: 'POST', body: JSON.stringify({ refresh_token: refresh }) });
  if (!reply.ok) {
    console.log(`refused: ${refresh}`);
    process.exit(1);
  }
  const fresh = JSON.stringify(await reply.json());
  if (how === 'torn') writeFileSync(file, fresh.slice(0, fresh.length - 4));
  else {
    writeFileSync(`${file}.new`, fresh);
    renameSync(`${file}.new`, file);
  }
  console.log(`renewed ${count + 1}`);
}
if (how === 'hang' || how === 'torn') await sleep(600_000);
if (how === 'pause') while (!existsSync(`${file}.go`)) await sleep(20);
