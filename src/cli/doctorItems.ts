import type { CheckCode } from '../client/checkCodes.ts';
import type { PreflightItem } from '../client/preflight.ts';
import { sayLength, sayScore } from '../base/numbers.ts';
import { count, sayWord } from '../base/words.ts';
import type { DoctorReport } from '../controller/doctor.ts';
import type { DryRun } from '../controller/dryRun.ts';
import type { InsideAnswers } from '../controller/doctorInside.ts';
import type { Tier } from '../machines/port.ts';

type Item = Omit<PreflightItem, 'topic'>;

type Words = Pick<Item, 'what' | 'detail' | 'fix'>;

const good = (what: string, detail = ''): Item => ({ state: 'good', code: null, what, detail, fix: null });
const bad = (code: CheckCode, words: Words): Item => ({ state: 'bad', code, ...words });
const warning = (code: CheckCode, words: Words): Item => ({ state: 'warning', code, ...words });

/** What the doctor found inside the isolation, as entries of `hma check`. */
export function doctorItems(report: DoctorReport, tier: Tier): PreflightItem[] {
  const { answers, detail } = report;
  const items =
    answers === null
      ? [
          bad('inside_not_started', {
            what: 'no session could be started in its isolation',
            detail,
            fix: 'Look at what it says; another tier can be chosen with isolation: in hma.yaml.',
          }),
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
      : bad('turn_failed', {
          what: `${agent} did no scripted turn at the test endpoint`,
          detail: why,
          fix: 'Look at what it says; its log is not kept.',
        }),
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
    return warning('inside_homes_open', {
      what: `inside, what everybody may read in HOMEs can be read: ${some}`,
      detail: `Looked at: ${looked}.`,
      fix: 'Close it to others: chmod o-rwx.',
    });
  return tier === 'none'
    ? warning('inside_nothing_closed', {
        what: `without isolation sessions can read ${some}`,
        detail: `Looked at: ${looked}.`,
        fix: 'Use isolation, or keep graders on another machine.',
      })
    : bad('inside_open', {
        what: `inside, a session can read ${some}`,
        detail: `Looked at: ${looked}.`,
        fix: 'Report this, and use another tier: isolation: in hma.yaml.',
      });
}

function workItems({ writable, hma, network }: InsideAnswers): Item[] {
  const shells = Object.entries(hma).filter(([how]) => how !== 'PATH');
  const missing = shells.filter(([, path]) => path === null).map(([how]) => how);
  return [
    writable
      ? good('inside, the workspace can be written')
      : bad('workspace_not_writable', {
          what: 'inside, the workspace can not be written',
          detail: '',
          fix: 'Check its owner and mode, and isolation: in hma.yaml.',
        }),
    hma['PATH'] === null || hma['PATH'] === undefined
      ? bad('hma_not_found', {
          what: 'inside, hma is not found',
          detail: 'Agents submit with it.',
          fix: 'Check that the state folder may hold programs (mount option noexec).',
        })
      : missing.length > 0
        ? warning('login_shells_without_hma', {
            what: `inside, login shells do not find hma: ${missing.join(', ')}`,
            detail: 'An agent that uses one has to be told the path.',
            fix: null,
          })
        : good(`inside, hma is found, from ${count(shells.length, 'kind')} of login shell too`),
    network
      ? good('inside, the network is open, as sessions need it')
      : bad('network_closed', {
          what: 'inside, the network is closed',
          detail: 'Agents reach no model.',
          fix: 'Check firewall and network namespaces of this machine.',
        }),
  ];
}

const gpuItem = (there: number, seen: number): Item =>
  seen === there
    ? good(`inside, ${count(seen, 'GPU')} can be used`)
    : bad('gpus_missing', {
        what: `inside, ${seen} of ${count(there, 'GPU')} can be seen`,
        detail: 'nvidia-smi -L said so.',
        fix: 'Check the device nodes of this container or machine.',
      });

const programItem = (said: string): Item =>
  bad('program_does_not_start', {
    what: "inside, an agent's program does not start",
    detail: said,
    fix: 'Name its folder in isolation.readable, or install it elsewhere.',
  });

/** What one run of the evaluator on the present files came to, as an entry of `hma check`. */
export function dryRunItem(run: DryRun): PreflightItem {
  return { topic: 'evaluator', ...itemOfDryRun(run) };
}

function itemOfDryRun(run: DryRun): Item {
  if (run.kind === 'not_run' && run.reason === 'refused')
    return bad('candidate_refused', {
      what: 'the files as they are can’t be submitted',
      detail: run.detail,
      fix: 'Correct the files, or `candidate` and `limits` in hma.yaml.',
    });
  if (run.kind === 'not_run')
    return run.reason === 'no_candidate'
      ? warning('evaluator_not_tried', {
          what: 'the evaluator was not tried: there is no candidate yet',
          detail: run.detail,
          fix: null,
        })
      : bad('evaluator_not_started', {
          what: 'the evaluator could not be started',
          detail: run.detail,
          fix: 'Correct `evaluate` in hma.yaml, or see what it says.',
        });
  const { verdict, ms, lastWords } = run;
  const time = sayLength(ms);
  switch (verdict.kind) {
    case 'scored':
      return good(`the evaluator gives ${sayScore(verdict.score)} on the files as they are, in ${time}`);
    case 'invalid':
    case 'incorrect':
      return warning('evaluator_says_no', {
        what: `the evaluator says ${sayWord(verdict.kind)} of the files as they are, in ${time}`,
        detail: [verdict.reason, lastWords].filter((text) => text !== '').join('; its last words: '),
        fix: null,
      });
    case 'timeout':
      return bad('evaluator_too_slow', {
        what: `the evaluator was not done after ${time}`,
        detail: lastWords,
        fix: 'Give it more time: evaluate: {timeout: …}.',
      });
    case 'non_finite':
      return bad('evaluator_not_finite', {
        what: `the evaluator's score is ${verdict.text}`,
        detail: lastWords,
        fix: 'A score is a finite number.',
      });
    case 'no_result':
    case 'lost':
      return bad('evaluator_no_result', {
        what: `the evaluator gave no result, after ${time}`,
        detail: verdict.kind === 'no_result' ? verdict.detail : lastWords,
        fix: 'It must write {"score": 0.87} into the file that $HMA_RESULT names.',
      });
  }
}
