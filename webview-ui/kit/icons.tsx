import type { AgentSlot } from '../../src/task/model.ts';

/** An agent by shape, colour and name: a circle for A, a diamond for B, a square for one of an earlier run. */
export const Agent = ({ slot, name }: { readonly slot: AgentSlot | null; readonly name: string }) => (
  <span class={`agent agent-${slot ?? 'other'}`}>
    <svg viewBox="0 0 10 10" aria-hidden="true">
      {slot === 'A' && <circle cx="5" cy="5" r="4" />}
      {slot === 'B' && <path d="M5 .4 9.6 5 5 9.6 .4 5Z" />}
      {slot === null && <path d="M1.2 1.2h7.6v7.6H1.2Z" />}
    </svg>
    <span class="agent-name">{name}</span>
  </span>
);

/** A star, full or hollow; the words stand in the element around it. */
export const Star = ({ on }: { readonly on: boolean }) => (
  <svg class={on ? 'star on' : 'star'} viewBox="0 0 16 16" aria-hidden="true">
    <path d="m8 1.6 1.95 4.1 4.45.6-3.25 3.1.8 4.4L8 11.65 4.05 13.8l.8-4.4L1.6 6.3l4.45-.6Z" />
  </svg>
);

/** The tick of a chosen row. */
export const Tick = ({ on }: { readonly on: boolean }) => (
  <svg class={on ? 'tick on' : 'tick'} viewBox="0 0 16 16" aria-hidden="true">
    <rect x="2" y="2" width="12" height="12" rx="2" />
    {on && <path d="m4.7 8.2 2.3 2.3 4.4-5" />}
  </svg>
);
