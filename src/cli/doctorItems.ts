import type { PreflightItem } from '../client/preflight.ts';
import { sayLength, sayScore } from '../base/numbers.ts';
import { count, sayWord } from '../base/words.ts';
import type { DoctorReport } from '../controller/doctor.ts';
import type { DryRun } from '../controller/dryRun.ts';
import type { InsideAnswers } from '../controller/doctorInside.ts';
import type { Tier } from '../machines/port.ts';

type Item = Omit<PreflightItem, 'topic'>;

const good = (what: string, detail = ''): Item => ({ state: 'good', what, detail, fix: null });
const bad = (what: string, detail: string, fix: string): Item => ({ state: 'bad', what, detail, fix });
const warning = (what: string, detail: string, fix: string | null): Item => ({ state: 'warning', what, detail, fix });

/** What the doctor found inside the isolation, as entries of `hma check`. */
export function doctorItems(report: DoctorReport, tier: Tier): PreflightItem[] {
  const { answers, detail } = report;
  const items =
    answers === null
      ? [
          bad(
            'no session could be started in its isolation',
            detail,
            'Look at what it says; another tier can be chosen with isolation: in hma.yaml.',
          ),
        ]
      : [
          closedItem(report, answers, tier),
          ...workItems(answers),
          ...(report.gpus > 0 ? [gpuItem(report.gpus, answers.gpus ?? 0)] : []),
          ...answers.programs.filter(({ ok }) => !ok).map(({ said }) => programItem(said)),
        ];
  const turned = report.turns.map(({ agent, ok, detail: why }) =>
    ok
      ? good(`${agent} did a scripted turn at the test endpoint`)
      : bad(`${agent} did no scripted turn at the test endpoint`, why, 'Look at what it says; its log is not kept.'),
  );
  return [...items, ...turned].map((item) => ({ topic: 'inside', ...item }));
}

/** What must be closed: the run's state, what the task hides (grades among it), what is private in HOMEs. */
function closedItem({ tried }: DoctorReport, { open }: InsideAnswers, tier: Tier): Item {
  const readable = [...open.state, ...open.hidden, ...open.homes];
  const looked = [
    "the runs' state",
    count(tried.hidden, 'hidden path'),
    `${count(tried.homes, 'private file')} of HOMEs`,
  ].join(', ');
  if (readable.length === 0) return good(`inside, a session can't read ${looked}`);
  const some = `${readable.slice(0, 6).join(', ')}${readable.length > 6 ? ` and ${readable.length - 6} more` : ''}`;
  const onlyHomes = open.state.length + open.hidden.length === 0;
  if (tier === 'uid' && onlyHomes)
    return warning(
      `inside, what everybody may read in HOMEs can be read: ${some}`,
      `Looked at: ${looked}.`,
      'Close it to others: chmod o-rwx.',
    );
  return tier === 'none'
    ? warning(
        `without isolation sessions can read ${some}`,
        `Looked at: ${looked}.`,
        'Use isolation, or keep graders on another machine.',
      )
    : bad(
        `inside, a session can read ${some}`,
        `Looked at: ${looked}.`,
        'Report this, and use another tier: isolation: in hma.yaml.',
      );
}

function workItems({ writable, hma, network }: InsideAnswers): Item[] {
  const shells = Object.entries(hma).filter(([how]) => how !== 'PATH');
  const missing = shells.filter(([, path]) => path === null).map(([how]) => how);
  return [
    writable
      ? good('inside, the workspace can be written')
      : bad('inside, the workspace can not be written', '', 'Check its owner and mode, and isolation: in hma.yaml.'),
    hma['PATH'] === null || hma['PATH'] === undefined
      ? bad(
          'inside, hma is not found',
          'Agents submit with it.',
          'Check that the state folder may hold programs (mount option noexec).',
        )
      : missing.length > 0
        ? warning(
            `inside, login shells do not find hma: ${missing.join(', ')}`,
            'An agent that uses one has to be told the path.',
            null,
          )
        : good(`inside, hma is found, from ${count(shells.length, 'kind')} of login shell too`),
    network
      ? good('inside, the network is open, as sessions need it')
      : bad(
          'inside, the network is closed',
          'Agents reach no model.',
          'Check firewall and network namespaces of this machine.',
        ),
  ];
}

const gpuItem = (there: number, seen: number): Item =>
  seen === there
    ? good(`inside, ${count(seen, 'GPU')} can be used`)
    : bad(
        `inside, ${seen} of ${count(there, 'GPU')} can be seen`,
        'nvidia-smi -L said so.',
        'Check the device nodes of this container or machine.',
      );

const programItem = (said: string): Item =>
  bad(
    "inside, an agent's program does not start",
    said,
    'Name its folder in isolation.readable, or install it elsewhere.',
  );

/** What one run of the evaluator on the present files came to, as an entry of `hma check`. */
export function dryRunItem(run: DryRun): PreflightItem {
  return { topic: 'evaluator', ...itemOfDryRun(run) };
}

function itemOfDryRun(run: DryRun): Item {
  if (run.kind === 'not_run')
    return run.reason === 'no_candidate'
      ? warning('the evaluator was not tried: there is no candidate yet', run.detail, null)
      : bad('the evaluator could not be started', run.detail, 'Correct `evaluate` in hma.yaml, or see what it says.');
  const { verdict, ms, lastWords } = run;
  const time = sayLength(ms);
  switch (verdict.kind) {
    case 'scored':
      return good(`the evaluator gives ${sayScore(verdict.score)} on the files as they are, in ${time}`);
    case 'invalid':
    case 'incorrect':
      return warning(
        `the evaluator says ${sayWord(verdict.kind)} of the files as they are, in ${time}`,
        verdict.reason,
        null,
      );
    case 'timeout':
      return bad(`the evaluator was not done after ${time}`, lastWords, 'Give it more time: evaluate: {timeout: …}.');
    case 'non_finite':
      return bad(`the evaluator's score is ${verdict.text}`, lastWords, 'A score is a finite number.');
    case 'no_result':
    case 'lost':
      return bad(
        `the evaluator gave no result, after ${time}`,
        verdict.kind === 'no_result' ? verdict.detail : lastWords,
        'It must write {"score": 0.87} into the file that $HMA_RESULT names.',
      );
  }
}
