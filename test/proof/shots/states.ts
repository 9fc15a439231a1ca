/** Every view and state of the extension that has a picture, in the order of the gallery: a short name, and what is to be seen. */
export const states = {
  'welcome-no-folder': 'Welcome without a folder',
  walkthrough: 'The walkthrough',
  untrusted: 'A folder that is not trusted',
  'welcome-no-task': 'Welcome in a folder without hma.yaml',
  'set-up-1': 'Set-up, step 1: the evaluator',
  'set-up-2': 'Set-up, step 2: the metric',
  'set-up-3': 'Set-up, step 3: the candidate’s files',
  'set-up-4': 'Set-up, step 4: the agents',
  'set-up-5': 'Set-up, step 5: the budget',
  'set-up-done': 'hma.yaml as the set-up wrote it, with its lenses',
  'contract-problem': 'hma.yaml with a problem, under the mouse',
  'contract-hover': 'hma.yaml: a key explained under the mouse',
  'welcome-ready': 'Welcome with a task: ready to start',
  preflight: 'The preflight checklist',
  'first-start': 'One clear word before the first start',
  'review-empty': 'The review page before the first candidate',
  running: 'An option at work: sidebar, terminals, status bar',
  evaluating: 'An experiment being evaluated',
  'tooltip-option': 'An option’s whole story under the mouse',
  'status-menu': 'The status bar’s menu',
  workspace: 'The view Workspace',
  handoff: 'A handoff, stage by stage',
  'review-running': 'The review page while the run goes on',
  paused: 'Paused by a person',
  lost: 'Lost controller: nobody brings it back',
  reloaded: 'After a reload of the window',
  reviewing: 'The final review at work',
  finished: 'Finished: the review page with the nomination',
  'review-details': 'The review page: a candidate and its details',
  'review-compare': 'The review page: candidates side by side',
  'review-zoom': 'The review page at 200 %',
  'review-narrow': 'The review page in a narrow tab',
  candidates: 'The view Candidates: a star, a hidden one, sorted by score',
  'candidates-filter': 'The filter of candidates',
  'candidate-tooltip': 'A candidate’s story under the mouse',
  diff: 'A native diff of two candidates',
  selected: 'Another candidate selected as final, with a reason',
  'status-menu-over': 'The status bar’s menu when the run is over',
  apply: 'Where the final candidate can be applied',
  'needs-person': 'The run waits for a person: badge, words, status bar',
  'review-blind': 'The review page of a blind task',
} as const;

/** Name of a state in the gallery. */
export type StateName = keyof typeof states;

/** Pictures in the README, below docs/images: light and dark each. */
export const pictures = ['watch', 'handoff', 'review'] as const;

/** Name of a picture in the README. */
export type PictureName = (typeof pictures)[number];
