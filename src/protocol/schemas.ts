import * as z from 'zod';

import type { FileRequest, NominateRequest, ResultRequest, SubmitRequest } from './agent.ts';
import type { AttachRequest, Intent } from './client.ts';

const token = z.string().min(1).max(200);
const by = z.string().min(1).max(200);
const active = z.number().finite().nonnegative();

/** What the controller accepts on its sockets; everything else is an error for the sender alone. */
export const withToken: z.ZodType<{ token: string }> = z.object({ token });
export const submitRequest: z.ZodType<SubmitRequest> = z.object({
  token,
  request: z.string().min(1).max(64).exactOptional(),
  note: z.string().max(20_000).exactOptional(),
  reported: z.number().finite().exactOptional(),
});
export const resultRequest: z.ZodType<ResultRequest> = z.object({ token, id: z.string().max(40), waitMs: active });
export const fileRequest: z.ZodType<FileRequest> = z.object({
  token,
  id: z.string().max(40),
  path: z.string().max(8192).exactOptional(),
});
export const nominateRequest: z.ZodType<NominateRequest> = z.object({
  token,
  candidate: z.string().max(200),
  reason: z.string().max(20_000),
});
export const seenNotification: z.ZodType<{ token: string; id: string }> = z.object({ token, id: z.string().max(40) });

export const attachRequest: z.ZodType<AttachRequest> = z.object({
  protocol: z.int(),
  after: z.int().nonnegative().exactOptional(),
});
export const intent: z.ZodType<Intent> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('pause'), after: z.boolean(), by }),
  z.object({ kind: z.literal('resume'), by }),
  z.object({ kind: z.literal('handoff'), by }),
  z.object({ kind: z.literal('message'), text: z.string().trim().min(1).max(20_000), by }),
  z.object({ kind: z.literal('review'), by }),
  z.object({ kind: z.literal('stop'), by }),
  z.object({
    kind: z.literal('budget'),
    by,
    totalMs: active.exactOptional(),
    reviewMs: active.exactOptional(),
    experiments: z.int().positive().nullable().exactOptional(),
    tokens: z.int().positive().nullable().exactOptional(),
    cost: z.number().finite().positive().nullable().exactOptional(),
    until: z.number().finite().nullable().exactOptional(),
  }),
  z.object({ kind: z.literal('select'), candidate: z.string(), reason: z.string().trim().min(1).max(4000), by }),
  z.object({ kind: z.literal('revealGrades'), by }),
  z.object({ kind: z.literal('grade'), candidates: z.array(z.string().max(40)).max(100_000), again: z.boolean(), by }),
  z.object({ kind: z.literal('reevaluate'), candidate: z.string().max(40), times: z.int().min(1).max(1000), by }),
  z.object({
    kind: z.literal('disqualify'),
    candidate: z.string().max(40),
    undo: z.boolean(),
    reason: z.string().trim().min(1).max(4000),
    by,
  }),
  z.object({ kind: z.literal('clearSelection'), reason: z.string().trim().min(1).max(4000), by }),
]);
