import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { chooseTier, removeFolder, type TierProbe } from '../../src/machines/isolation.ts';
import { probeTiers } from '../../src/machines/probeTiers.ts';
import { forgetUid, releaseFolder } from '../../src/machines/uidAccess.ts';
import { pickUids, releaseUids } from '../../src/machines/uidTier.ts';
import { MachineRoom, observed, repository, testUids, tiersHere } from './machineRoom.ts';

const isRoot = process.getuid?.() === 0;
let room: MachineRoom;
beforeEach(() => {
  room = new MachineRoom();
});
afterEach(() => {
  room.close();
});

/** Runs a shell script in a tier and returns what it wrote. */
async function say(
  tier: (typeof tiersHere)[number],
  script: string,
  confinement: Parameters<MachineRoom['start']>[2] = {},
): Promise<string> {
  const started = await room.start(tier, ['/bin/sh', '-c', script], confinement);
  const { report } = await observed(started, 'ended');
  expect(report).toMatchObject({ cause: 'exit', survivors: [] });
  return readFileSync(join(started.dir, 'output.log'), 'utf8');
}

const confining = tiersHere.filter((tier) => tier !== 'none');

describe.each(confining)('tier %s', (tier) => {
  test('what is hidden is hidden, what is read-only stays, what is writable is writable', async () => {
    const secret = join(room.base, 'grader');
    mkdirSync(secret);
    writeFileSync(join(secret, 'labels'), 'the labels');
    writeFileSync(join(room.workspace, 'hma.yaml'), 'cap: 5');
    mkdirSync(join(room.workspace, 'sub'));
    writeFileSync(join(room.workspace, 'sub', 'private'), 'private');
    const shown = join(room.state, 'shown');
    mkdirSync(shown, { mode: 0o755 });
    writeFileSync(join(shown, 'prompt.md'), 'the prompt');
    writeFileSync(join(room.state, 'grades.json'), 'the grades', { mode: 0o644 });
    mkdirSync(join(room.state, 'other'), { mode: 0o755 });
    writeFileSync(join(room.state, 'other', 'token'), 'the token', { mode: 0o644 });
    symlinkSync(secret, join(room.workspace, 'way-in'));
    const look = [
      join(secret, 'labels'),
      'hma.yaml',
      'sub/private',
      'way-in/labels',
      join(room.state, 'grades.json'),
      join(room.state, 'other/token'),
    ];
    const script = `for one in ${look.join(' ')}; do cat $one 2>/dev/null && echo " SEEN $one"; done
      cat ${join(shown, 'prompt.md')}; echo; (echo x > ${join(shown, 'prompt.md')}) 2>/dev/null && echo OVERWRITTEN
      (echo x > /etc/hma-made) 2>/dev/null && echo ETC; (echo x > ${room.base}/made) 2>/dev/null
      (echo x > hma.yaml) 2>/dev/null; mkdir -p deep/er && echo mine > deep/er/file && echo home > $HOME/file && echo tmp > $TMPDIR/file && echo fine`;
    const hidden = [
      room.state,
      secret,
      join(room.workspace, 'hma.yaml'),
      join(room.workspace, 'sub', 'private'),
      join(room.base, 'not-there'),
    ];
    const said = await say(tier, script, { confinement: { hidden, readable: [shown] } });
    expect(said).toBe('the prompt\nfine\n');
    expect(existsSync(join(room.base, 'made'))).toBe(false);
    expect(room.read('deep/er/file')).toBe('mine\n');
    expect(room.read('hma.yaml')).toBe('cap: 5');
    expect(readFileSync(join(room.state, 'grades.json'), 'utf8')).toBe('the grades');
  });

  test.runIf(isRoot)('programs on a PATH that leads through a link in /run, as fnm makes it, are found', async () => {
    const bin = join(room.base, 'installation', 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
    const shells = mkdtempSync('/run/hma-shells-');
    try {
      chmodSync(shells, 0o755);
      const shell = join(shells, '12_34');
      symlinkSync(join(room.base, 'installation'), shell);
      const readable = [shell, join(shell, 'bin'), shell, join(room.base, 'installation')];
      expect(await say(tier, `${shell}/bin/greet`, { confinement: { readable } })).toBe('hello\n');
    } finally {
      rmSync(shells, { recursive: true });
    }
  });

  test('privileges are gone: no mounts, no other user ids, no capabilities', async () => {
    const said = await say(
      tier,
      `grep -E "^Cap(Eff|Prm|Bnd|Amb)" /proc/self/status | sort -u; mount -t tmpfs none ${room.workspace} 2>/dev/null && echo MOUNTED; umount /proc 2>/dev/null && echo UNMOUNTED; setpriv --reuid 0 true 2>/dev/null && [ "$(setpriv --reuid 0 id -u)" = 0 ] && echo ROOT; unshare --user --map-root-user true 2>/dev/null && echo NESTED; true`,
    );
    const lines = said.trim().split('\n');
    expect(lines.filter((line) => !/^Cap\w+:\s+0+$/.test(line) && !(tier === 'uid' && line === 'NESTED'))).toEqual([]);
  });

  test('what one session made, the next one and the user can use', async () => {
    await say(
      tier,
      'mkdir made; echo one > made/file; echo x > private; chmod 600 private; printf "#!/bin/sh\\necho ran\\n" > made/run; chmod +x made/run',
    );
    const said = await say(
      tier,
      'echo two >> made/file && cat made/file && made/run && rm private && chmod 644 made/file && echo fine',
    );
    expect(said).toBe('one\ntwo\nran\nfine\n');
    const user = 1000;
    if (!isRoot) return;
    chownSync(room.workspace, user, user);
    await say(tier, tier === 'uid' ? 'echo for-the-user > gift' : 'true');
    if (tier !== 'uid') return;
    const seen = execFileSync(
      'setpriv',
      ['--reuid', '1000', '--regid', '1000', '--clear-groups', '/bin/sh', '-c', 'echo more >> gift; cat gift'],
      { cwd: room.workspace, encoding: 'utf8' },
    );
    expect(seen).toBe('for-the-user\nmore\n');
    await releaseFolder(room.workspace, testUids()[0]);
    expect(statSync(join(room.workspace, 'gift')).uid).toBe(user);
    expect(execFileSync('getfacl', ['-R', '-n', '-p', room.workspace], { encoding: 'utf8' })).not.toContain(
      String(testUids()[0]),
    );
    await forgetUid(testUids()[0], [room.base]);
  });

  test('a session reads nothing of an earlier one outside the workspace, be it the same user', async () => {
    const first = await room.start(tier, [
      '/bin/sh',
      '-c',
      'echo token > $HOME/login; mkdir -m 777 $HOME/open; echo x > $HOME/open/x; chmod 777 $HOME',
    ]);
    await observed(first, 'ended');
    const { home } = first.spec.confinement;
    expect(readFileSync(join(home, 'login'), 'utf8')).toBe('token\n');
    expect(
      await say(
        tier,
        `cat ${home}/login 2>/dev/null; cat ${home}/open/x 2>/dev/null; ls ${home} 2>/dev/null; [ "$HOME" != ${home} ] && echo fresh`,
      ),
    ).toBe('fresh\n');
  });

  test('a tool planted on its PATH is not what confines the next session', async () => {
    await say(
      tier,
      'for name in setpriv bwrap setfacl mkfifo perl find chown; do printf "#!/bin/sh\\necho ran >> ${0%/*}/hijacked\\nexit 1\\n" > $name; chmod 755 $name; done',
    );
    expect(await say(tier, 'echo fine', { env: { PATH: `${room.workspace}:/usr/bin:/bin` } })).toBe('fine\n');
    expect(room.read('hijacked')).toBeUndefined();
  });

  test("modes, owners and groups of the user's own files stay", async () => {
    writeFileSync(join(room.workspace, 'mine'), 'mine', { mode: 0o640 });
    const before = statSync(join(room.workspace, 'mine'));
    await say(tier, 'cat mine; echo more >> mine');
    const after = statSync(join(room.workspace, 'mine'));
    expect([after.uid, after.gid]).toEqual([before.uid, before.gid]);
    expect(after.mode & 0o707).toBe(before.mode & 0o707); // an access list shows its mask in the group's place
    expect(room.read('mine')).toBe('minemore\n');
  });

  test('what it leaves in shared temporary folders is gone afterwards', async () => {
    const name = `hma-left-${process.pid}-${tier}`;
    await say(
      tier,
      `echo x > /tmp/${name}; mkdir /var/tmp/${name}; echo x > /dev/shm/${name}; echo x > $TMPDIR/t; mkdir $TMPDIR/d; echo x > $TMPDIR/d/e; chmod 0 $TMPDIR/d`,
    );
    for (const folder of ['/tmp', '/var/tmp', '/dev/shm']) expect(existsSync(join(folder, name))).toBe(false);
  });
});

test.runIf(tiersHere.includes('bubblewrap'))(
  'bubblewrap: /tmp is its own, the network can be cut, names resolve, processes outside are not to be seen',
  async () => {
    const outside = mkdtempSync(join(tmpdir(), 'hma-outside-'));
    try {
      const script = `ls ${outside} 2>/dev/null && echo SEEN; ls /tmp | wc -l; cat /proc/net/dev | grep -c : ; ls /proc | grep -c '^[0-9]'; [ -r /etc/resolv.conf ] && echo names; id -un; ls /run/user /run/docker.sock 2>/dev/null`;
      const said = await say('bubblewrap', script, { confinement: { network: 'none', writable: [room.workspace] } });
      const [tmp, devices, processes, ...rest] = said.trim().split('\n');
      expect([Number(tmp), Number(devices)]).toEqual([1, 1]); // /tmp holds only the way to the workspace; only the loopback
      expect(Number(processes)).toBeLessThan(10);
      expect(rest).toEqual(existsSync('/etc/resolv.conf') ? (isRoot ? ['names', 'hma'] : ['names', rest[1]]) : rest);
    } finally {
      rmSync(outside, { recursive: true });
    }
  },
);

test.runIf(tiersHere.includes('uid'))("uid: somebody's own home is never given away", async () => {
  for (const home of ['/root', '/tmp']) {
    const started = await room.start('uid', ['/bin/true'], {
      confinement: home === '/tmp' ? { home } : { writable: [home] },
    });
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ cause: 'spawn', error: expect.stringContaining(home) as string });
    expect(statSync(home).uid).toBe(0);
  }
});

test.runIf(tiersHere.includes('uid'))('uid: the network can be cut, the loopback stays', async () => {
  const said = await say('uid', 'grep -c : /proc/net/dev; id -u', { confinement: { network: 'none' } });
  expect(said).toBe(`1\n${testUids()[0]}\n`);
});

test.runIf(tiersHere.includes('uid'))(
  'uids: the same for the same holder, different for others, none that an account has',
  () => {
    const [one, other] = [`test-${process.pid}`, `test-other-${process.pid}`];
    try {
      const first = pickUids(one, 2);
      const second = pickUids(other, 2);
      expect(first).toEqual(pickUids(one, 2));
      if (!first.ok || !second.ok) throw new Error('no ids');
      expect(new Set([...first.value, ...second.value]).size).toBe(4);
      for (const uid of first.value)
        expect(
          execFileSync('sh', ['-c', 'getent passwd "$1" || echo none', 'x', String(uid)], { encoding: 'utf8' }),
        ).toBe('none\n');
    } finally {
      releaseUids(one);
      releaseUids(other);
    }
  },
);

test('the tiers are probed by starting something in each, and nothing is left of it', async () => {
  const scratch = join(room.base, 'scratch');
  const probes = await probeTiers({ node: process.execPath, scratch });
  expect(probes.filter((probe) => probe.available).map((probe) => probe.tier)).toEqual(tiersHere);
  expect(readdirSync(scratch)).toEqual([]);
});

/** Whether an ordinary user can read this checkout: below root's HOME none can. */
const isReachable =
  spawnSync('setpriv', ['--reuid', '1000', '--regid', '1000', '--clear-groups', 'test', '-r', import.meta.filename])
    .status === 0;

test.runIf(isRoot && isReachable)('an ordinary user gets bubblewrap and none, and a reason why not uid', () => {
  const scratch = join(room.base, 'scratch');
  mkdirSync(scratch);
  chmodSync(scratch, 0o777);
  const script = `import { probeTiers } from ${JSON.stringify(join(repository, 'src/machines/probeTiers.ts'))}; console.log(JSON.stringify(await probeTiers({ node: process.execPath, scratch: ${JSON.stringify(scratch)} })));`;
  const said = execFileSync(
    'setpriv',
    ['--reuid', '1000', '--regid', '1000', '--clear-groups', process.execPath, '--input-type=module', '-e', script],
    { encoding: 'utf8', cwd: '/', env: { PATH: process.env['PATH'] } },
  );
  const probes = JSON.parse(said) as TierProbe[];
  expect(probes.filter((probe) => probe.available).map((probe) => probe.tier)).toEqual(
    tiersHere.filter((tier) => tier !== 'uid'),
  );
  expect(probes.find((probe) => probe.tier === 'uid')?.why).toContain('root');
});

test('a tier is chosen: the strongest that works for auto, never a weaker one than was asked for', () => {
  const probes: TierProbe[] = [
    { tier: 'bubblewrap', available: false, why: 'bwrap not found' },
    { tier: 'uid', available: true, why: '' },
    { tier: 'none', available: true, why: '' },
  ];
  expect(chooseTier('auto', probes)).toEqual({ ok: true, value: 'uid' });
  expect(chooseTier('none', probes)).toEqual({ ok: true, value: 'none' });
  expect(chooseTier('bubblewrap', probes)).toMatchObject({
    ok: false,
    refusal: { reason: 'tier_unavailable', message: expect.stringContaining('bwrap not found') as string },
  });
});

test('folders of the system are never removed, whatever a session is called', async () => {
  for (const folder of ['/', '/tmp', process.env['HOME'] ?? '/root']) await removeFolder(folder);
  expect(existsSync('/tmp')).toBe(true);
  expect(existsSync(room.base)).toBe(true);
});
