import { sayCaps } from '../../analysis/usageWords.ts';
import { sayEnd } from '../../analysis/words.ts';
import { sayMoment } from '../../base/moment.ts';
import { oneLine } from '../../base/oneLine.ts';
import { count, sayWord } from '../../base/words.ts';
import type { RunEvent } from '../../run/events.ts';
import { sayLength, sayScore } from '../../base/numbers.ts';
import { stamped, told, type Happening, type Paper, type Scene } from './scene.ts';
import { acceptedLine, attemptLines, closedLine, opening } from './sessionLines.ts';
import { fit, pad, wrap } from './text.ts';

/**
 * The lines of the live log for one event: none for what is only bookkeeping, one for what a person follows. Never wider than the
 * paper. Pure: the same ledger always gives the same log.
 */
export function eventLines(happening: Happening, paper: Paper): string[] {
  const known = happening.event as RunEvent;
  const lines = linesOf({ ...happening, known, ...paper });
  return lines.map((line) => fit(line, paper.columns));
}

function linesOf(scene: Scene): string[] {
  const { known, style, after } = scene;
  switch (known.type) {
    case 'run.opened':
      return opening(scene);
    case 'attempt.started':
    case 'attempt.ended':
      return attemptLines(scene, known);
    case 'experiment.accepted':
      return [acceptedLine(scene, known.data.id)];
    case 'experiment.rejected': {
      const { id, code, reason } = known.data;
      const blame = code === 'evaluator_error' ? style.bad(code) : style.warn(code);
      return [stamped(scene, `${pad(id, 4)} rejected  ${blame}: ${oneLine(reason, 400)}`)];
    }
    case 'option.reaped':
      return known.data.survivors.length > 0
        ? [
            stamped(
              scene,
              style.bad(
                `${count(known.data.survivors.length, 'process', 'processes')} of option ${known.data.option} can't be ended: ${known.data.survivors.map((one) => `${one.pid} ${oneLine(one.command, 40)}`).join(', ')}`,
              ),
            ),
          ]
        : [];
    case 'option.clean':
      return known.data.restored.length > 0
        ? [
            stamped(
              scene,
              style.warn(`protected files were changed and put back: ${oneLine(known.data.restored.join(', '))}`),
            ),
          ]
        : [];
    case 'option.closed':
      return closedLine(scene, known.data.option);
    case 'ballot.cast':
    case 'review.closed':
    case 'candidate.selected':
    case 'selection.cleared':
      return reviewLines(scene, known);
    case 'candidate.graded': {
      const { id, result } = known.data;
      const said =
        result.kind === 'graded'
          ? after.gradesRevealed
            ? `graded ${style.bold(sayScore(result.grade))} by the hidden grader`
            : 'graded by the hidden grader; hma reveal shows grades'
          : style.warn(`could not be graded: ${oneLine(result.reason)}`);
      return [stamped(scene, `${pad(id, 4)} ${said}`)];
    }
    case 'controller.started':
      return after.controller.starts > 1
        ? [
            stamped(
              scene,
              style.warn(
                `the controller started again${known.data.gapMs > 0 ? `; ${sayLength(known.data.gapMs)} in which nothing of the run lived don't count` : ''}`,
              ),
            ),
          ]
        : [];
    default:
      return runLines(scene, known);
  }
}

function runLines(scene: Scene, known: RunEvent): string[] {
  const { style } = scene;
  switch (known.type) {
    case 'run.paused':
      return told(
        scene,
        known.data.reason === 'requested'
          ? oneLine(known.data.detail, 600)
          : `paused (${sayWord(known.data.reason)}): ${oneLine(known.data.detail, 600)}${known.data.until === undefined ? '' : `; goes on by itself at ${sayMoment(known.data.until, known.wall)}`}`,
        style.warn,
      );
    case 'run.resumed':
      return [stamped(scene, `goes on (${oneLine(known.data.by, 40)})`)];
    case 'run.pauseAfter':
      return [
        stamped(scene, known.data.wanted ? 'will pause after this session' : 'will not pause after this session'),
      ];
    case 'budget.changed': {
      const { totalMs, reviewMs, experiments } = known.data.budgets;
      return [
        stamped(
          scene,
          `budgets are now ${sayLength(totalMs)} in all, ${sayLength(reviewMs)} for the review, ${[experiments === null ? 'any number of experiments' : count(experiments, 'experiment'), ...sayCaps(known.data.budgets)].join(', ')}`,
        ),
      ];
    }
    case 'exploration.ending':
      return [stamped(scene, `exploration ends: ${sayEnd(known.data.reason, known.data.by)}`)];
    case 'run.stopping':
      return [stamped(scene, `${oneLine(known.data.by, 40)} stops the run`)];
    case 'candidate.disqualified':
    case 'candidate.requalified': {
      const { id, who, reason } = known.data;
      const how = known.type === 'candidate.disqualified' ? 'disqualifies' : 'takes back the disqualification of';
      return [stamped(scene, style.warn(`${oneLine(who, 40)} ${how} ${id}: ${oneLine(reason, 300)}`))];
    }
    case 'candidate.reevaluated': {
      const { id, verdict } = known.data;
      const { terms, gradesRevealed } = scene.after;
      const hides = verdict.kind === 'scored' && terms.feedback === 'blind' && !gradesRevealed;
      const said = hides ? 'score hidden' : verdict.kind === 'scored' ? sayScore(verdict.score) : sayWord(verdict.kind);
      return [stamped(scene, `${pad(id, 4)} evaluated again: ${said}`)];
    }
    case 'message.sent':
      return [stamped(scene, `${oneLine(known.data.by, 40)} to the session: ${oneLine(known.data.text, 300)}`)];
    case 'run.noticed': {
      const { level, text } = known.data;
      return told(
        scene,
        `${level === 'info' ? '' : '! '}${oneLine(text, 600)}`,
        level === 'info' ? style.dim : level === 'person' ? style.bad : style.warn,
      );
    }
    case 'run.finished':
      return [stamped(scene, `the run is over: ${sayEnd(known.data.reason, scene.after.endedBy)}`)];
    default:
      return [];
  }
}

type ReviewEvent = Extract<
  RunEvent,
  { type: 'ballot.cast' | 'review.closed' | 'candidate.selected' | 'selection.cleared' }
>;

function reviewLines(scene: Scene, known: ReviewEvent): string[] {
  const { after, style } = scene;
  switch (known.type) {
    case 'ballot.cast': {
      const who = oneLine(after.review ? after.terms.agents[after.review.reviewer].name : 'the reviewer', 40);
      return known.data.valid
        ? told(scene, `${who} nominates ${known.data.candidate}: ${oneLine(known.data.reason, 600)}`)
        : told(scene, `a ballot that isn't valid: ${oneLine(known.data.why)}`, style.warn);
    }
    case 'review.closed':
      return [
        stamped(
          scene,
          style.dim(
            `review: ${known.data.outcome}${known.data.outcome === 'skipped' || known.data.outcome === 'late' || known.data.outcome === 'crashed' ? ` (${oneLine(known.data.detail)})` : ''}`,
          ),
        ),
      ];
    case 'candidate.selected': {
      const { candidate, by, who, reason } = known.data;
      const chooser =
        by === 'person'
          ? `${oneLine(who, 40)}, a person`
          : by === 'reviewer'
            ? `the reviewer ${oneLine(who, 40)}`
            : 'fallback';
      return [
        stamped(scene, style.bold(`★ ${candidate} is the final candidate, by ${chooser}`)),
        ...wrap(oneLine(reason, 600), scene.columns - 12).map((line) => `${' '.repeat(12)}${line}`),
      ];
    }
    case 'selection.cleared':
      return [stamped(scene, `${oneLine(known.data.who, 40)} cleared the selection: ${oneLine(known.data.reason)}`)];
  }
}
