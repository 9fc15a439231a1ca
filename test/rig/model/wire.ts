import { contextOverflow } from './faults.ts';
import { smallest, type Call, type Json, type Step, type Usage } from './script.ts';

/** What is to be said, in whichever protocol. */
export interface Answer {
  readonly id: number;
  readonly step: Step;
  readonly call: Call | null;
  readonly usage: Usage;
  readonly model: string;
  readonly body: Json;
}

/** Sends one event of a stream; resolves `pause` after the first one. */
export interface Stream {
  readonly send: (event: string | null, data: Json | '[DONE]') => void;
  /** A scripted silence, or the place where a connection is cut: false when the answer ends here. */
  readonly pause: () => Promise<boolean>;
}

/** Text that an answer shows: before a call what the step says, else its final text. */
const textOf = ({ step, call }: Answer): string | undefined => (call ? step.say : (step.text ?? 'Done.'));

const idOf = (kind: string, { id }: Answer): string => `${kind}_scripted${String(id).padStart(6, '0')}`;

/** Anthropic's Messages, as a whole. */
export function anthropicWhole(answer: Answer): Json {
  const { call, step, usage, model } = answer;
  const text = textOf(answer);
  return {
    id: idOf('msg', answer),
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(step.think === undefined ? [] : [{ type: 'thinking', thinking: step.think, signature: 'c2NyaXB0ZWQ=' }]),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(call ? [{ type: 'tool_use', id: idOf('toolu', answer), name: call.name, input: call.args ?? {} }] : []),
    ],
    stop_reason: call ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { ...anthropicInput(usage), output_tokens: usage.output },
  };
}

const anthropicInput = ({ input, cacheWrite, cached }: Usage): Json => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cached,
});

/** Anthropic's Messages, streamed. */
export async function anthropicStream(answer: Answer, { send, pause }: Stream): Promise<void> {
  const { usage } = answer;
  const whole = anthropicWhole(answer);
  const event = (type: string, rest: Json): void => send(type, { type, ...rest });
  const begun = { ...whole, content: [], stop_reason: null, usage: { ...anthropicInput(usage), output_tokens: 1 } };
  event('message_start', { message: begun });
  if (!(await pause())) return;
  for (const [index, block] of (whole['content'] as readonly Json[]).entries()) {
    event('content_block_start', { index, content_block: emptied(block) });
    for (const delta of deltasOf(block)) event('content_block_delta', { index, delta });
    event('content_block_stop', { index });
  }
  event('message_delta', {
    delta: { stop_reason: whole['stop_reason'], stop_sequence: null },
    usage: {
      ...anthropicInput(usage),
      output_tokens: usage.output,
      output_tokens_details: { thinking_tokens: usage.reasoning },
    },
  });
  event('message_stop', {});
}

function emptied(block: Json): Json {
  if (block['type'] === 'tool_use') return { ...block, input: {} };
  return block['type'] === 'thinking' ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' };
}

function deltasOf(block: Json): readonly Json[] {
  if (block['type'] === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }];
  if (block['type'] === 'text') return [{ type: 'text_delta', text: block['text'] }];
  return [
    { type: 'thinking_delta', thinking: block['thinking'] },
    { type: 'signature_delta', signature: block['signature'] },
  ];
}

/** OpenAI's Responses, as a whole. */
export const responsesWhole = (answer: Answer): Json =>
  responsesFrame(answer, { status: 'completed', output: responsesItems(answer), usage: responsesUsage(answer.usage) });

const responsesFrame = (answer: Answer, rest: Json): Json => ({
  id: idOf('resp', answer),
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  model: answer.model,
  ...rest,
});

const responsesUsage = ({ input, cached, output, reasoning }: Usage): Json => ({
  input_tokens: input + cached,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + cached + output,
});

function responsesItems(answer: Answer): readonly Json[] {
  const { step, call } = answer;
  const text = textOf(answer);
  const thought = { type: 'summary_text', text: step.think };
  const said = { type: 'output_text', text, annotations: [] };
  const done = { status: 'completed', call_id: idOf('call', answer), name: call?.name };
  return [
    ...(step.think === undefined
      ? []
      : [{ type: 'reasoning', id: idOf('rs', answer), summary: [thought], encrypted_content: 'c2NyaXB0ZWQ=' }]),
    ...(text === undefined
      ? []
      : [{ type: 'message', id: idOf('msg', answer), role: 'assistant', status: 'completed', content: [said] }]),
    ...(call?.freeform === undefined
      ? []
      : [{ type: 'custom_tool_call', id: idOf('ctc', answer), input: call.freeform, ...done }]),
    ...(call?.args === undefined
      ? []
      : [
          {
            type: 'function_call',
            id: idOf('fc', answer),
            arguments: JSON.stringify(call.args),
            ...(call.ns !== undefined && { namespace: call.ns }),
            ...done,
          },
        ]),
  ];
}

/** OpenAI's Responses, streamed. */
export async function responsesStream(answer: Answer, { send, pause }: Stream): Promise<void> {
  let sequence_number = 0;
  const event = (type: string, rest: Json): void => send(type, { type, sequence_number: sequence_number++, ...rest });
  event('response.created', { response: responsesFrame(answer, { status: 'in_progress', output: [], usage: null }) });
  if (answer.step.fault?.kind === 'context_overflow')
    return event('response.failed', { response: responsesFrame(answer, { status: 'failed', error: contextOverflow }) });
  if (!(await pause())) return;
  for (const [output_index, item] of responsesItems(answer).entries()) {
    const at = { output_index, item_id: item['id'] };
    const message = item['type'] === 'message';
    const begun = message ? { ...item, status: 'in_progress', content: [] } : item;
    event('response.output_item.added', { output_index, item: begun });
    if (message) event('response.output_text.delta', { ...at, content_index: 0, delta: textOf(answer) });
    if (item['type'] === 'reasoning')
      event('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: answer.step.think });
    if (item['type'] === 'custom_tool_call')
      event('response.custom_tool_call_input.delta', { ...at, delta: item['input'] });
    if (item['type'] === 'function_call') {
      event('response.function_call_arguments.delta', { ...at, delta: item['arguments'] });
      event('response.function_call_arguments.done', { ...at, name: item['name'], arguments: item['arguments'] });
    }
    if (message) event('response.output_text.done', { ...at, content_index: 0, text: textOf(answer) });
    event('response.output_item.done', { output_index, item });
  }
  event('response.completed', { response: responsesWhole(answer) });
}

const chatUsage = ({ input, cached, output, reasoning }: Usage): Json => ({
  prompt_tokens: input + cached,
  completion_tokens: output,
  total_tokens: input + cached + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const chatCalls = (answer: Answer): readonly Json[] | undefined =>
  answer.call
    ? [
        {
          index: 0,
          id: idOf('call', answer),
          type: 'function',
          function: { name: answer.call.name, arguments: JSON.stringify(answer.call.args ?? {}) },
        },
      ]
    : undefined;

/** Chat completions, as a whole. */
export function chatWhole(answer: Answer): Json {
  const message = { role: 'assistant', content: textOf(answer) ?? null, tool_calls: chatCalls(answer) };
  return {
    id: idOf('chatcmpl', answer),
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: answer.model,
    choices: [{ index: 0, finish_reason: answer.call ? 'tool_calls' : 'stop', message }],
    usage: chatUsage(answer.usage),
  };
}

/** Chat completions, streamed. */
export async function chatStream(answer: Answer, { send, pause }: Stream): Promise<void> {
  const frame = { id: idOf('chatcmpl', answer), object: 'chat.completion.chunk', model: answer.model };
  const created = Math.floor(Date.now() / 1000);
  const chunk = (delta: Json, finish_reason: string | null = null): void =>
    send(null, { ...frame, created, choices: [{ index: 0, delta, finish_reason }] });
  chunk({ role: 'assistant', content: '' });
  if (!(await pause())) return;
  const [text, calls] = [textOf(answer), chatCalls(answer)];
  if (answer.step.think !== undefined) chunk({ reasoning_content: answer.step.think });
  if (text !== undefined) chunk({ content: text });
  if (calls) chunk({ tool_calls: calls });
  chunk({}, calls ? 'tool_calls' : 'stop');
  send(null, { ...frame, created, choices: [], usage: chatUsage(answer.usage) });
  send(null, '[DONE]');
}

function geminiParts(answer: Answer): readonly Json[] {
  const { step, call } = answer;
  const text = textOf(answer);
  const functionCall = call && { id: idOf('call', answer), name: call.name, args: call.args ?? {} };
  return [
    ...(step.think === undefined ? [] : [{ text: step.think, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...(functionCall ? [{ functionCall, thoughtSignature: 'c2NyaXB0ZWQ=' }] : []),
  ];
}

/** Gemini counts thoughts beside the output. */
function geminiFrame(answer: Answer, parts: readonly Json[], last: boolean): Json {
  const { input, cached, output, reasoning } = answer.usage;
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(last && { finishReason: 'STOP' }) }],
    ...(last && {
      usageMetadata: {
        promptTokenCount: input + cached,
        cachedContentTokenCount: cached,
        candidatesTokenCount: output - reasoning,
        thoughtsTokenCount: reasoning,
        totalTokenCount: input + cached + output,
      },
    }),
    modelVersion: answer.model,
    responseId: idOf('gem', answer),
  };
}

/** Gemini's generateContent, as a whole; where JSON is asked for, the smallest that fits. */
export function geminiWhole(answer: Answer): Json {
  const wish = (answer.body['generationConfig'] ?? {}) as Json;
  if (wish['responseMimeType'] !== 'application/json') return geminiFrame(answer, geminiParts(answer), true);
  const schema = (wish['responseJsonSchema'] ?? wish['responseSchema'] ?? { type: 'object' }) as Json;
  return geminiFrame(answer, [{ text: JSON.stringify(smallest(schema)) }], true);
}

/** Gemini's streamGenerateContent. */
export async function geminiStream(answer: Answer, { send, pause }: Stream): Promise<void> {
  const parts = geminiParts(answer);
  if (answer.step.stallMs !== undefined || answer.step.fault) send(null, geminiFrame(answer, [{ text: ' ' }], false));
  if (!(await pause())) return;
  for (const [index, part] of parts.entries()) send(null, geminiFrame(answer, [part], index === parts.length - 1));
}
