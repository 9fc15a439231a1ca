import { expect, test } from 'vitest';
import { pageHtml } from '../../src/window/reviewHtml.ts';
import { readReviewMessage } from '../../src/window/reviewInbox.ts';

test.each([
  { type: 'ready' },
  { type: 'select', candidate: 'e1', reason: 'best' },
  { type: 'clear', reason: '' },
  { type: 'reveal' },
  { type: 'star', candidate: 'e1', on: true },
  { type: 'hide', candidate: 'e1', on: false },
  { type: 'diff', before: 'e1', after: 'e2' },
  { type: 'files', candidate: 'e1' },
  { type: 'apply' },
  { type: 'act', act: 'reevaluate', candidate: 'e1' },
  { type: 'gradeAll' },
])('%j is a message', (message) => expect(readReviewMessage(message)).toBe(message));

test.each([
  undefined,
  null,
  'ready',
  {},
  { type: 'model' },
  { type: 'toString' },
  { type: '__proto__' },
  { type: 'select', candidate: 'e1' },
  { type: 'select', candidate: 7, reason: 'x' },
  { type: 'select', candidate: 'e1', reason: 'x'.repeat(4001) },
  { type: 'star', candidate: 'e1', on: 'yes' },
])('%j is none', (message) => expect(readReviewMessage(message)).toBeNull());

test('the document names its policy and lets no text out of its place', () => {
  const html = pageHtml({
    source: 'https://s',
    nonce: 'abc',
    script: 'https://s/a.js?x="><script>',
    style: 'https://s/a.css',
    title: '<b>',
  });
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1];
  expect(policy).toBe(
    "default-src 'none'; script-src 'nonce-abc'; style-src https://s 'nonce-abc'; font-src https://s; img-src https://s; form-action 'none'; base-uri 'none'",
  );
  expect(html).toContain('<title>&lt;b&gt;</title>');
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html).not.toMatch(/unsafe|style="/);
});
