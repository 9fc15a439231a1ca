/**
 * The grader: as the evaluator, on the test split, whose labels and scores no agent ever sees.
 *
 *   node grade.mjs --labels <hidden>/test.csv
 *
 * `layOut.mjs` puts a pristine copy of the task's `evaluate.mjs` beside this file, so that nothing from a workspace runs here.
 */
import { judgeCandidate } from './evaluate.mjs';

judgeCandidate(process);
