import type { Tier } from './port.ts';

/** What a tier promises and what it can't, in plain words for the interface and the docs. */
export interface TierDescription {
  readonly promises: readonly string[];
  readonly cannot: readonly string[];
}

const descriptions: Readonly<Record<Tier, TierDescription>> = {
  bubblewrap: {
    promises: [
      'A session can write only to the workspace, its own HOME and its own temporary folder; everything else is read-only.',
      "HMA's state, the grades, the task's hidden paths and other sessions' folders look empty from inside.",
      "A session has its own /tmp, /dev/shm and list of processes: it can't see or signal any process outside.",
      'Ending a session ends every process it started, daemonized ones too, at one stroke; so does the death of its runner.',
      'A session has no privileges, also when HMA runs as root.',
    ],
    cannot: [
      'Files that your user can read and that are not hidden can be read; with an open network they could be sent away.',
      'With an open network a session reaches services on this machine (localhost) too, and abstract Unix sockets.',
      "A session can use up memory, CPU, GPU memory and the workspace's disk; it is only the first to go when memory runs out.",
      'When HMA runs as root, files in the workspace that belong to other users can be changed only where their modes let everybody.',
      'A kernel flaw would let a session out: this is no virtual machine.',
    ],
  },
  uid: {
    promises: [
      'A session runs as a user id that nothing else on this machine uses, without privileges and without a way to get any.',
      'A session can write only to the workspace, its own HOME and temporary folder, and where everybody may (/tmp, /dev/shm); what it leaves there is removed.',
      "HMA's state, the grades and hidden paths are closed to a session by access lists; your own owners, groups and modes stay as they are.",
      'Ending a session ends every process of its user id, daemonized ones too, until none is left; an evaluation has another user id and is never touched.',
    ],
    cannot: [
      'Files that everybody may read can be read, and the command lines of all processes can be seen.',
      'A hidden file in a folder that a session may write can be deleted or replaced by it, though not read.',
      'A hidden file that is replaced by a new one while a session runs (many editors do that) is readable for the rest of that session.',
      'A session needs a HOME of its own: a real home is refused (bring login files into its own).',
      "A session can't change modes or times of files that it didn't create: a tool that insists fails.",
      'Files that a session creates with private modes can be read by HMA but not by you, until the run ends and they become yours.',
      'Local services and the network are as open as for any user; with `network: none` an evaluator has only a loopback of its own.',
      'Folders created in the state folder while a session runs are hidden only by their own modes (HMA makes them private).',
      'A user id that runs a program has no name in /etc/passwd; the few programs that need one fail.',
    ],
  },
  none: {
    promises: [
      'A session gets only the environment it was given, its own HOME and its own TMPDIR.',
      'Ending a session finds its processes by descent (orphans come to a reaper where perl is installed), by their session and by a marker in their environment, stops them on sight and kills them until three looks find none.',
    ],
    cannot: [
      'Nothing is hidden: a session can read the grades, hidden paths and the state of HMA, change them, and signal HMA itself. Put what must not be read elsewhere (`private:`), or use another tier.',
      'A program that kills the reaper, clears its environment and calls setsid can outlive the session that started it.',
      'A session shares /tmp, /dev/shm, the network and all your files.',
      '`network: none` is not possible.',
    ],
  },
};

/** Describes a tier. */
export const describeTier = (tier: Tier): TierDescription => descriptions[tier];
