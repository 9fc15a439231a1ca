import { expect, it } from 'vitest';

import { commonCases, ended, harnessRig } from '../harnessCases.ts';
import { qwenUnderTest } from '../qwenUnderTest.ts';

const rig = harnessRig(qwenUnderTest);
commonCases(qwenUnderTest, rig);

it('thinks as much as it is told to', async () => {
  const { session, name } = await rig.start([{ text: 'Done.' }], { agent: { effort: 'high' } });
  await ended(session);
  expect(JSON.stringify(rig.requestsOf(name)[0]?.body), session.output()).toMatch(
    /"(?:reasoning_effort|effort)":"high"/u,
  );
});

it('runs what a shell can: substitutions, here-documents, jobs in the background', async () => {
  const shell =
    'cat > made.txt <<EOF\n$(echo one)\nEOF\n(sleep 0.1; echo two >> made.txt) & wait; export A=three; echo $A >> made.txt';
  const { session } = await rig.start([{ shell }, { text: 'Done.' }], { tier: 'none' });
  expect(session.failure(await ended(session)), session.output()).toBeNull();
  expect(session.room.read('made.txt'), session.output()).toBe('one\ntwo\nthree\n');
});
