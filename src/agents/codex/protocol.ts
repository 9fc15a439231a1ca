import * as z from 'zod';

// What of the app-server's protocol the driver reads. Source: `codex app-server generate-ts --experimental`, 0.171.0.

/** Notifications that say nothing which a later one doesn't say as a whole, or that are not about the session. */
export const unwanted = [
  'item/agentMessage/delta',
  'item/plan/delta',
  'item/reasoning/textDelta',
  'item/reasoning/summaryTextDelta',
  'item/reasoning/summaryPartAdded',
  'item/commandExecution/outputDelta',
  'item/fileChange/outputDelta',
  'turn/diff/updated',
  'thread/readState/changed',
  'remoteControl/status/changed',
];

/** Answer of `model/list`. */
export const modelsSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      model: z.string(),
      supportedReasoningEfforts: z.array(z.looseObject({ reasoningEffort: z.string() })),
    }),
  ),
});
/** Answer of `thread/start`. */
export const threadSchema = z.looseObject({
  thread: z.looseObject({ id: z.string() }),
  model: z.string(),
  modelProvider: z.string(),
  approvalPolicy: z.unknown(),
  sandbox: z.looseObject({ type: z.string() }),
  cwd: z.string(),
});
/** Answer of `turn/start`. */
export const turnSchema = z.looseObject({ turn: z.looseObject({ id: z.string() }) });
/** `turn/started` and `turn/completed`. */
export const turnEventSchema = z.looseObject({
  threadId: z.string(),
  turn: z.looseObject({
    id: z.string(),
    status: z.string(),
    error: z.looseObject({ message: z.string() }).nullish(),
  }),
});
/** `thread/goal/updated`. */
export const goalSchema = z.looseObject({ threadId: z.string(), goal: z.looseObject({ status: z.string() }) });
/** Answer of `thread/backgroundTerminals/list`. */
export const terminalsSchema = z.looseObject({ data: z.array(z.looseObject({ command: z.string() })) });
/** `error`: a request to the model failed. */
export const errorSchema = z.looseObject({
  threadId: z.string(),
  willRetry: z.boolean(),
  error: z.looseObject({ message: z.string(), additionalDetails: z.string().nullish() }),
});
/** `configWarning`. */
export const warningSchema = z.looseObject({
  summary: z.string(),
  details: z.string().nullish(),
  path: z.string().nullish(),
});
