import type { ReviewFrame } from '../../src/window/reviewMessages.ts';
import { Agent } from '../kit/icons.tsx';

/** The morning's second look: what was gained, what it took, who did what, and what needs a person's eye. */
export function Night({ frame }: { readonly frame: ReviewFrame }) {
  const { told, work, agents, phase } = frame;
  if (phase === 'exploring' || phase === 'reviewing') return null;
  const tells = work.some(({ tokens }) => tokens !== '');
  return (
    <section class="night" aria-label="The night">
      <dl class="night-told">
        {told.map(({ name, words, warns }) => (
          <div class={warns ? 'warns' : ''}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <table class="work">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Options</th>
            <th scope="col">Accepted</th>
            <th scope="col">Rejected</th>
            <th scope="col">Records</th>
            {tells && <th scope="col">Tokens</th>}
            {tells && <th scope="col">Cost</th>}
          </tr>
        </thead>
        <tbody>
          {work.map((one) => (
            <tr>
              <th scope="row">
                <Agent slot={one.agent} name={agents[one.agent]} />
              </th>
              <td>{one.options}</td>
              <td>{one.accepted}</td>
              <td>{one.rejected}</td>
              <td>{one.records}</td>
              {tells && <td>{one.tokens}</td>}
              {tells && <td>{one.cost}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
