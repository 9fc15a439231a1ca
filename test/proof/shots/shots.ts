import { shootBeginning } from './beginning.ts';
import { shootDeciding } from './deciding.ts';
import { writeGalleryPage } from './galleryPage.ts';
import { pictures, states, type StateName } from './states.ts';
import { inStudio, type Studio } from './studio.ts';
import { shootWatching } from './watching.ts';

/** Failures of agents that only a person can put right. */
const needy = (contract: string): string =>
  `${contract.replace(/(B: .*command: )\[.*\]/, `$1[${JSON.stringify(process.execPath)}, -e, "console.error('Login expired: run /login.'); process.exit(1)"]`)}failures: { attempts: 1, wait: 1s, then: pause }\n`;

/** Runs that go on in the background while other pictures are taken. */
async function beginAside(studio: Studio): Promise<{ readonly blind: string; readonly waiting: string }> {
  const short = { cap: 2, experiments: 4, total: '10m', review: '1m' };
  const blind = await studio.sample('digits-blind', short, (contract) => `${contract}feedback: blind\n`);
  const waiting = await studio.sample('digits-waiting', short, needy);
  await studio.runDetached(blind);
  await studio.runDetached(waiting);
  return { blind, waiting };
}

async function shootAside(studio: Studio, { blind, waiting }: Awaited<ReturnType<typeof beginAside>>): Promise<void> {
  await studio.reaches(waiting, 'a pause that waits for a person', ({ pause }) => pause !== null);
  const needing = await studio.open(waiting);
  await needing.show('HMA');
  await needing.view('Run').pane.locator('.message').filter({ hasText: 'choose Resume' }).waitFor();
  await studio.camera.take('needs-person', needing);
  await needing.close();
  await studio.reaches(blind, 'finished', ({ phase }) => phase === 'finished');
  const window = await studio.open(blind);
  await window.show('HMA');
  await window.command('HMA: Open the Final Review');
  await window.webview().getByRole('row').nth(4).waitFor();
  await studio.camera.take('review-blind', window);
  await window.close();
}

/**
 * Pictures of every state in four looks, from a real VS Code: test-output/shots/index.html for the eye, docs/images for the README.
 * Gives back whether each listed state was reached.
 */
export async function proveShots(): Promise<boolean> {
  const started = performance.now();
  const taken = new Set<StateName>();
  const broken: string[] = [];
  await inStudio(async (studio) => {
    const aside = await beginAside(studio);
    const scenes = [
      () => shootBeginning(studio),
      () => shootAside(studio, aside),
      async () => {
        const { window, workspace } = await shootWatching(studio);
        await shootDeciding(studio, window, workspace);
      },
    ];
    // what is missing of one scene is told; the others are taken all the same
    for (const scene of scenes) await scene().catch((error: unknown) => broken.push(wordsOf(error)));
    for (const name of studio.camera.taken) taken.add(name);
  }).catch((error: unknown) => broken.push(wordsOf(error)));
  const path = writeGalleryPage();
  const missing = Object.keys(states).filter((name) => !taken.has(name as StateName));
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
  const whole = broken.length === 0 && missing.length === 0;
  console.log(
    `${whole ? '✓' : '✗'} ${'shots'.padEnd(22)} ${seconds} s  ${path}, ${pictures.length} pictures in docs/images`,
  );
  for (const words of broken) console.log(`    ${words}`);
  if (missing.length > 0) console.log(`    missing: ${missing.join(', ')}`);
  return whole;
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
