import type { Script, Seen, Step } from '../../rig/modelServer.ts';

/** A model that lives through its sessions one after the other; each answers the requests of one session in turn. */
export type Session = () => Generator<Step, void, Seen>;

/** A session begins where nothing was done yet and nothing said but the prompt; one that has no more to say is silent until it is ended. */
export function sessions(...told: readonly Session[]): Script {
  let next = 0;
  let now: Generator<Step, void, Seen> | undefined;
  return (seen) => {
    if (seen.turn === 0 && seen.prompts === 1) now = told[next++]?.();
    return now?.next(seen).value ?? { fault: { kind: 'hang', when: 'before' } };
  };
}

/** Writes a file as an agent does in a shell. */
const write = (path: string, text: string): string => `cat > ${path} <<'END'\n${text}END`;

const trainAndSubmit = (note: string): string => `python3 train.py && hma submit --wait 60 --note "${note}"`;

/** Naive Bayes over pieces of names: what an agent makes of the letters that it finds. */
const predict = (
  sizes: string,
  smoothing: string,
  more = '',
): string => `"""Reads names, one a line; writes the language of each, by naive Bayes over pieces of ${sizes} letters."""
import json, math, sys

SIZES, SMOOTHING = (${sizes}), ${smoothing}


def text(name):
    return name


def pieces(name):
    name = text(name)
    return [name[at:at + size] for size in SIZES for at in range(len(name) - size + 1)]


def main():
    model = json.load(open('model.json', encoding='utf-8'))
    counts, totals = model['counts'], model['totals']
    unseen = {l: math.log(SMOOTHING / (n + SMOOTHING * len(counts))) for l, n in totals.items()}
${more}    for name in sys.stdin.read().splitlines():
        parts = pieces(name)
        score = {l: low * len(parts) for l, low in unseen.items()}
        for part in parts:
            for l, n in counts.get(part, {}).items():
                score[l] += math.log(n / SMOOTHING + 1)
        print(max(score, key=score.get))


if __name__ == '__main__':
    main()
`;

const train = `"""Counts pieces of the names of each language."""
import collections, json
from predict import pieces

counts, totals = collections.defaultdict(collections.Counter), collections.Counter()
for line in open('data/train.tsv', encoding='utf-8'):
    language, name = line.rstrip('\\n').split('\\t')
    for piece in pieces(name):
        counts[piece][language] += 1
        totals[language] += 1
json.dump({'counts': counts, 'totals': totals}, open('model.json', 'w', encoding='utf-8'), ensure_ascii=False)
`;

/** What the person says at midnight, and what comes of it. */
const boundaries = /where a word begins/;

/** Claude Code: the first option, the third one, which meets a usage limit at once, and the final review. */
export const claudeNight = (): Script =>
  sessions(
    function* () {
      yield {
        say: 'I look around first.',
        shell: 'ls -R . | head -20; head -3 data/train.tsv; cat predict.py; hma status',
      };
      yield {
        say: 'Single letters lose the order. I count pieces of one to three letters.',
        shell: `${write('predict.py', predict('1, 2, 3', '1.0'))}\n${write('train.py', train)}\n${trainAndSubmit('pieces of 1 to 3 letters instead of single letters')}`,
      };
      const known = `    known = dict(reversed(line.rstrip('\\n').split('\\t')) for line in open('data/train.tsv'))\n`;
      yield {
        say: 'Words that are known already could be looked up.',
        shell: `${write('predict.py', predict('1, 2, 3', '1.0', known))}\n${trainAndSubmit('look known names up')}`,
      };
      yield {
        say: 'An evaluation sees the candidate alone, and the data is no part of it. I take that back and smooth less.',
        shell: `${write('predict.py', predict('1, 2, 3', '0.1'))}\n${trainAndSubmit('smoothing 0.1')}`,
      };
      let seen = yield { say: 'What else do the names tell?', shell: 'shuf -n 5 data/train.tsv' };
      while (!boundaries.test(JSON.stringify(seen.body))) seen = yield { shell: 'sleep 1' };
      yield {
        say: 'Right: I mark the ends of words.',
        shell: `sed -i "s/    return name$/    return '^' + name.replace(' ', '$ ^') + '$'/" predict.py\n${trainAndSubmit('mark where words begin and end')}`,
      };
    },
    function* () {
      yield { fault: { kind: 'usage_limit', resetAt: Math.ceil(Date.now() / 1000 + 7200) * 1000 } };
    },
    function* () {
      yield { shell: 'hma archive; hma archive get e6 predict.py' };
      yield { shell: 'hma nominate e6 --reason "best score, and the change is small"' };
      yield { text: 'I have chosen.' };
    },
  );

/** Codex: the second option, in which it thinks until `goesOn`, and the fourth. */
export const codexNight = (goesOn: () => boolean): Script =>
  sessions(
    function* () {
      yield { say: 'I read what is there.', shell: 'cat predict.py train.py; hma archive' };
      yield {
        say: 'Longer pieces first.',
        shell: `sed -i 's/(1, 2, 3)/(1, 2, 3, 4)/' predict.py\n${trainAndSubmit('pieces of up to 4 letters')}`,
      };
      while (!goesOn()) yield { shell: 'sleep 1' };
      yield {
        say: 'With more pieces the smoothing is due again.',
        shell: `sed -i 's/SMOOTHING = \\(.*\\), 0.1/SMOOTHING = \\1, 0.3/' predict.py\n${trainAndSubmit('smoothing 0.3 again for the longer pieces')}`,
      };
      yield { text: 'These are two steps ahead; I leave it to the next one.' };
    },
    function* () {
      yield { shell: 'hma archive; cat predict.py' };
      yield {
        say: 'Capitals tell German nouns, but split the counts of all others. Both views together may be best.',
        shell: `sed -i "s/    name = text(name)/    name = text(name) + ' ' + text(name.lower())/" predict.py\n${trainAndSubmit('count each name twice: as it is and in small letters')}`,
      };
    },
  );
