import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { systemClock, type Clock } from '../../src/base/clock.ts';
import {
  claimPath,
  publishClaim,
  readClaims,
  stakeClaim,
  withdrawClaim,
  type ClaimFolder,
} from '../../src/controller/claims.ts';
import { acquireLease, readRunOwner } from '../../src/controller/lease.ts';
import { describeSelf, type OwnerRecord } from '../../src/controller/owner.ts';
import { freshPlace } from './ownerRig.ts';

/** A claim of this process with the same number by fence and by turn. */
const claim = (number: number): OwnerRecord => ({
  v: 1,
  ...describeSelf(systemClock),
  fence: number,
  turn: number,
  run: 'r',
  workspace: '/w',
  stateDir: '/s',
  clientSocket: '/none',
  agentSocket: '/none',
});

function freshClaims(): ClaimFolder {
  const path = freshPlace().workspace;
  return { path, by: 'fence', mode: 0o600 };
}

/** Lets `owner` win and tidy up. */
function win(folder: ClaimFolder, owner: OwnerRecord): OwnerRecord {
  const seen = readClaims(folder);
  expect(stakeClaim(folder, owner, seen)).toBe(true);
  publishClaim(folder, owner, seen);
  return owner;
}

test('a name is given once', () => {
  const folder = freshClaims();
  const seen = readClaims(folder);
  expect([stakeClaim(folder, claim(1), seen), stakeClaim(folder, claim(1), seen)]).toEqual([true, false]);
});

test('a claimer that slept while two others won, and its number was tidied away, doesn’t win and leaves nothing', () => {
  const folder = freshClaims();
  win(folder, claim(1));
  const old = readClaims(folder);
  win(folder, claim(2));
  const third = win(folder, claim(3));
  expect(existsSync(claimPath(folder, 2))).toBe(false);
  expect(stakeClaim(folder, claim(2), old)).toBe(false);
  expect(readClaims(folder)).toMatchObject({ highest: 3, rubbish: [] });
  expect(readClaims(folder).claims.map(({ nonce }) => nonce)).toEqual([third.nonce, third.nonce]);
  expect(existsSync(claimPath(folder, 2))).toBe(false);
});

test('a claimer that slept while the folder was cleaned away and won anew doesn’t win with its higher number', () => {
  const folder = freshClaims();
  win(folder, claim(5));
  const old = readClaims(folder);
  rmSync(folder.path, { recursive: true });
  mkdirSync(folder.path);
  win(folder, claim(1));
  expect(stakeClaim(folder, claim(6), old)).toBe(false);
  expect(existsSync(claimPath(folder, 6))).toBe(false);
});

test('numbers only grow, also when a claim is given back', () => {
  const folder = freshClaims();
  const first = win(folder, claim(1));
  withdrawClaim(folder, first, 7);
  expect(readClaims(folder)).toMatchObject({ highest: 1, claims: [{ nonce: first.nonce, released: 7 }] });
  withdrawClaim(folder, claim(1), 8);
  expect(readClaims(folder).claims).toMatchObject([{ released: 7 }]);
});

/** The machine's clock, which lets something happen at its first reading: just before the candidate makes its claim. */
function clockThatFirst(work: () => void): Clock {
  let done = false;
  return {
    now() {
      if (!done) {
        done = true;
        work();
      }
      return systemClock.now();
    },
  };
}

test('a person’s word counts against the owner that was there, not against one who wins meanwhile', async () => {
  const place = freshPlace();
  const options = {
    workspace: place.workspace,
    stateDir: place.state,
    runId: 'r',
    sockets: { client: '/none', agent: '/none' },
  };
  await acquireLease({ ...options, clock: systemClock });
  const rival = claim(2);
  const clock = clockThatFirst(() => win({ path: place.state, by: 'fence', mode: 0o600 }, rival));
  const answer = await acquireLease({ ...options, clock, takeOver: true });
  expect(answer).toMatchObject({
    ok: false,
    refusal: { reason: 'held', liveness: 'lives', owner: { nonce: rival.nonce } },
  });
});

test('a candidate that loses the workspace at the last moment gives its run’s claim back', async () => {
  const place = freshPlace();
  const rival = claim(1);
  const clock = clockThatFirst(() => {
    mkdirSync(join(place.workspace, '.hma'), { recursive: true });
    win({ path: join(place.workspace, '.hma'), by: 'turn', mode: 0o644 }, rival);
  });
  const answer = await acquireLease({
    workspace: place.workspace,
    stateDir: place.state,
    runId: 'r',
    sockets: { client: '/none', agent: '/none' },
    clock,
  });
  expect(answer).toMatchObject({
    ok: false,
    refusal: { reason: 'held', what: 'workspace', owner: { nonce: rival.nonce } },
  });
  expect(readRunOwner(place.state)?.released).toBeTypeOf('number');
});
