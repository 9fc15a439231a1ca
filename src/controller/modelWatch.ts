import { isModelAsked } from '../agents/modelName.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import type { RunEvent } from '../run/events.ts';
import type { Room } from './room.ts';
import { agentOf, sessionOf } from './sessions.ts';

/** Code of the notice that another model answered than was asked for. */
const code = 'model_differs';

/** No model changes silently: where a harness reports another one than was asked for, the run says so, once for each model of an attempt. */
export function startModelWatch(room: Room): Disposable {
  const { recorder } = room;
  const said = new Set(
    (recorder.eventsAfter(0) as readonly RunEvent[])
      .filter((event) => event.type === 'run.noticed' && event.data.code === code)
      .map(({ data }) => ('text' in data ? data.text : '')),
  );
  return recorder.subscribe((events: readonly LedgerEvent[]) => {
    for (const event of events as readonly RunEvent[])
      for (const text of event.type === 'attempt.responded' ? noticesOf(room, event) : []) {
        if (said.has(text)) continue;
        said.add(text);
        // not from within the listener: the others are to hear of the responses first
        queueMicrotask(() => recorder.append([{ type: 'run.noticed', data: { level: 'warning', code, text } }]));
      }
  });
}

function noticesOf(room: Room, event: Extract<RunEvent, { type: 'attempt.responded' }>): string[] {
  const { session: name, attempt, responses } = event.data;
  const session = sessionOf(room, name);
  const agent = session && room.contract.agents[agentOf(session)];
  const asked = agent?.model;
  if (asked === undefined) return [];
  const where = name.kind === 'review' ? 'the review' : `option ${name.number}`;
  return [...new Set(responses.map(({ model }) => model))]
    .filter((model) => model !== null && !isModelAsked(asked, model))
    .map(
      (model) =>
        `${agent?.name}: ${model} answered in ${where}, attempt ${attempt}, where ${asked} was asked for; look at the harness's settings and the account's plan`,
    );
}
