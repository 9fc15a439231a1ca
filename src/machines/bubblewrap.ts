import {
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import type { Confinement } from './port.ts';
import { tool } from './tools.ts';

/** One mount below the read-only root. */
interface Mount {
  readonly path: string;
  readonly kind: 'hidden' | 'readable' | 'writable';
}

/** The user id that root's programs see as their own: many tools, agents among them, refuse to work as root. */
const innerUid = 1000;

/**
 * The bubblewrap command line of a confinement: read-only root, what is hidden empty, own pid, ipc, uts and user namespaces, no
 * capabilities, /tmp and /var/tmp = the session's own folder, /run empty but for name resolution and links to what may be read. Deeper mounts come later, so that
 * a writable folder below a hidden one is writable, and a hidden file in a writable one hidden. `nested: 'refused'` forbids
 * further user namespaces inside (bubblewrap 0.8 and later, not where it is setuid).
 */
export function bubblewrapArgv(given: {
  readonly confinement: Confinement;
  readonly cwd: string;
  readonly scratch: string;
  readonly nested: 'refused' | 'possible';
}): [string, ...string[]] {
  const { confinement } = given;
  const tmp = real(confinement.tmp);
  const binds = confinement.binds ?? [];
  const rebuilt = binds.some(({ to }) => !existsSync(to));
  const args: string[] = [
    ...(rebuilt ? rootByEntries() : ['--ro-bind', '/', '/']),
    '--dev',
    '/dev',
    ...gpuNodes(confinement.gpus),
    '--proc',
    '/proc',
    '--tmpfs',
    '/run',
    ...namesInRun(),
    ...linksInRun(confinement.readable),
  ];
  args.push('--bind', tmp, '/tmp', '--bind', tmp, '/var/tmp', ...accountOf(confinement, given.scratch));
  const hiddenFolders: string[] = [];
  for (const mount of mountsOf(confinement)) {
    if (mount.kind === 'readable') args.push('--ro-bind', mount.path, mount.path);
    else if (mount.kind === 'writable') args.push('--bind', mount.path, mount.path);
    else if (statSync(mount.path).isDirectory()) {
      args.push('--perms', '0755', '--tmpfs', mount.path);
      hiddenFolders.push(mount.path);
    } else args.push('--ro-bind', '/dev/null', mount.path);
  }
  for (const { from, to, writable } of binds) {
    if (from === null) args.push('--perms', '0755', '--tmpfs', to);
    else args.push(writable ? '--bind' : '--ro-bind', real(from), to);
  }
  for (const path of [...hiddenFolders, '/run', ...(rebuilt ? ['/'] : [])]) args.push('--remount-ro', path);
  args.push(
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--cap-drop',
    'ALL',
  );
  if (given.nested === 'refused') args.push('--disable-userns');
  if (process.getuid?.() === 0) args.push('--uid', String(innerUid), '--gid', String(innerUid));
  if (confinement.network === 'none') args.push('--unshare-net');
  args.push('--die-with-parent', '--new-session', '--chdir', real(given.cwd), '--');
  return [tool('bwrap'), ...args];
}

/** The folder directly below / that a path lies in. */
export const topOf = (path: string): string => `/${path.split('/')[1] ?? ''}`;

/** Whether a mount can be made at a path: it is there, or nothing of its top folder is. The root is read-only, so no folder can be made in it. */
export const canMountAt = (path: string): boolean => existsSync(path) || !existsSync(topOf(path));

/** The root, entry by entry on an empty one, so that mount points can be made beside them; it is made read-only in the end. */
const rootByEntries = (): string[] =>
  readdirSync('/', { withFileTypes: true })
    .filter(({ name }) => !['dev', 'proc', 'run', 'tmp'].includes(name))
    .flatMap((entry) =>
      entry.isSymbolicLink()
        ? ['--symlink', readlinkSync(`/${entry.name}`), `/${entry.name}`]
        : ['--ro-bind-try', `/${entry.name}`, `/${entry.name}`],
    );

/** Mounts by depth, so that deeper ones lie on top; at the same path what hides wins. Hidden paths that don't exist need no hiding. */
function mountsOf(confinement: Confinement): Mount[] {
  const mounts: Mount[] = [];
  const add = (paths: readonly string[], kind: Mount['kind']): void => {
    for (const path of paths) if (existsSync(path)) mounts.push({ path: real(path), kind });
  };
  add(confinement.readable, 'readable');
  add([...confinement.writable, confinement.home, confinement.tmp], 'writable');
  add(confinement.hidden, 'hidden');
  const depth = (path: string): number => path.split('/').filter(Boolean).length;
  return mounts.filter((mount) => mount.path !== '/').sort((a, b) => depth(a.path) - depth(b.path));
}

const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** /run holds sockets that lead out (Docker's among them), but name resolution and the system's own links may live there too. */
function namesInRun(): string[] {
  const kept = [
    '/run/systemd/resolve',
    '/run/resolvconf',
    '/run/NetworkManager',
    '/run/opengl-driver',
    '/run/current-system',
    '/run/nvidia-persistenced',
  ];
  const resolver = real('/etc/resolv.conf');
  if (resolver.startsWith('/run/') && !kept.includes(dirname(resolver))) kept.push(resolver);
  return kept.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]);
}

/** Links in /run that lead to what may be read: a Node version manager (fnm) puts one per shell on PATH. Of nested ones the outer does. */
function linksInRun(readable: readonly string[]): string[] {
  const inRun = [...new Set(readable)].filter((path) => path.startsWith('/run/') && existsSync(path));
  const links = inRun.filter((path) => real(path) !== path);
  return links
    .filter((path) => !links.some((other) => path.startsWith(`${other}/`)))
    .flatMap((path) => ['--symlink', real(path), path]);
}

/** Device nodes of the assigned GPUs (all of them when none are named) and the control devices every one needs. */
function gpuNodes(gpus: readonly number[] | undefined): string[] {
  const names = readdirSync('/dev');
  const wanted = gpus && new Set(gpus.map((index) => `nvidia${minorOf(index)}`));
  const nvidia = names.filter((name) =>
    /^nvidia\d+$/.test(name) ? (wanted?.has(name) ?? true) : name.startsWith('nvidia'),
  );
  const anyWanted = gpus === undefined || gpus.length > 0;
  const nodes = anyWanted
    ? [...nvidia, ...names.filter((name) => name === 'kfd' || name === 'dri' || name === 'dxg')]
    : [];
  return nodes.flatMap((name) => ['--dev-bind-try', `/dev/${name}`, `/dev/${name}`]);
}

/** nvidia-smi numbers GPUs by PCI bus, device nodes by minor number; the driver tells which is which. */
function minorOf(index: number): number {
  const folder = '/proc/driver/nvidia/gpus';
  if (!existsSync(folder)) return index;
  const bus = readdirSync(folder).sort()[index];
  if (bus === undefined) return index;
  const minor = /Device Minor:\s+(\d+)/.exec(readFileSync(join(folder, bus, 'information'), 'utf8'))?.[1];
  return minor === undefined ? index : Number(minor);
}

/** As root the program sees itself as an ordinary user, and programs look that user up: a copy of /etc/passwd that knows it. */
function accountOf(confinement: Confinement, scratch: string): string[] {
  if (process.getuid?.() !== 0 || !existsSync('/etc/passwd') || lstatSync('/etc/passwd').isSymbolicLink()) return [];
  const others = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && line.split(':')[2] !== String(innerUid));
  const file = join(scratch, 'passwd');
  const home = confinement.home.replaceAll(/[:\n]/g, '_');
  writeFileSync(file, [...others, `hma:x:${innerUid}:${innerUid}:hma:${home}:/bin/sh`, ''].join('\n'), { mode: 0o644 });
  return ['--ro-bind', file, '/etc/passwd'];
}
