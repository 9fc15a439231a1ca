import { accessSync, constants } from 'node:fs';

/**
 * A child subreaper in a few lines of perl, since Node can't call prctl: orphans of the program come to it instead of init, so that
 * double-forked children stay descendants. It tells the runner on descriptor 3 `main PID`, `exit CODE SIGNAL` (the program's own end,
 * long before that of its children) or `failed WHY`, and ends when nothing below it is left. It ignores polite signals
 * and offers itself and what it starts to the out-of-memory killer before runner and controller.
 */
const script = `$0="hma-reaper";my $nr=shift;syscall($nr+0,36,1,0,0,0) if $nr;open(my $r,">&=",3) or die "hma: no descriptor 3: $!";fcntl($r,2,1);
select((select($r),$|=1)[0]);$SIG{$_}="IGNORE" for qw(PIPE HUP INT TERM);if(open(my $o,">","/proc/self/oom_score_adj")){print $o 500}my $p=fork;if(!defined $p){print $r "failed fork: $!\\n";exit 127}
if(!$p){$SIG{$_}="DEFAULT" for qw(PIPE HUP INT TERM);setpgrp(0,0);{no warnings;exec {$ARGV[0]} @ARGV}print $r "failed $ARGV[0]: $!\\n";exit 127}
print $r "main $p\\n";for(;;){my $c=waitpid(-1,0);if($c==-1){next if $!+0==4;last}print $r "exit ".($?>>8)." ".($?&127)."\\n" if $c==$p}`;

/** The number of the prctl call, by Node's name of the processor. */
const prctl: Partial<Record<NodeJS.Architecture, number>> = {
  x64: 157,
  arm64: 167,
  ppc64: 171,
  s390x: 172,
  riscv64: 167,
  loong64: 167,
  arm: 172,
  ia32: 172,
};

const perl = '/usr/bin/perl';

/** Whether the reaper can be used here. */
export function hasReaper(): boolean {
  try {
    accessSync(perl, constants.X_OK);
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

/** The argument list that runs a program under the reaper. */
export const underReaper = (argv: readonly string[]): [string, ...string[]] => [
  perl,
  '-e',
  script,
  String(prctl[process.arch] ?? 0),
  ...argv,
];

/** What the reaper says. */
export type ReaperWord =
  | { readonly word: 'main'; readonly pid: number }
  | { readonly word: 'exit'; readonly code: number | null; readonly signal: number | null }
  | { readonly word: 'failed'; readonly why: string };

/** Reads one line of the reaper's; undefined for anything else. */
export function parseReaperLine(line: string): ReaperWord | undefined {
  const [word, first, second] = line.split(' ');
  if (word === 'main' && first) return { word, pid: Number(first) };
  if (word === 'failed') return { word, why: line.slice(7) };
  if (word !== 'exit' || first === undefined || second === undefined) return undefined;
  const signal = Number(second);
  return signal > 0 ? { word, code: null, signal } : { word, code: Number(first), signal: null };
}
