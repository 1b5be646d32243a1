import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { insultIn } from './insults.ts';

/** The half of the labelled lines that tests may see; `npm run bench verdicts` measures the other. */
const seen = new URL('../../../test/verdicts/insults-seen.txt', import.meta.url);

describe('the rule for insults', () => {
  it('decides at most one of fifty labelled lines wrongly, and leaves at most one of eight open', async () => {
    const lines = (await readFile(seen, 'utf8')).trim().split('\n');
    const wrong = lines.filter((line) => {
      const { kind } = insultIn(line.slice(2));
      return kind !== 'doubtful' && (kind === 'insult') !== line.startsWith('!');
    });
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(lines.length / 50);
    const open = lines.filter((line) => insultIn(line.slice(2)).kind === 'doubtful');
    expect(open.length).toBeLessThanOrEqual(lines.length / 8);
  });

  it.each([
    ['You are an idiot.', 'insult'],
    ['You are not an idiot.', 'none'],
    ['I am an idiot.', 'none'],
    ['I’m such an idiot, I booked the wrong day.', 'none'],
    ['Your dumb waiter needs servicing.', 'doubtful'],
    ['I am tired of talking to an idiot.', 'insult'],
    ['I’m talking to an idiot.', 'insult'],
    ['“You idiot” is a line in the play.', 'none'],
    ['Two tickets for The Idiot, please.', 'none'],
    ['I’m sorry that he called you an idiot.', 'none'],
    ['YOU ARE AN IDIOT', 'insult'],
    ['You are an i d i o t.', 'insult'],
    ['You need a doctor for your head.', 'doubtful'],
    ['We are open from eight to six.', 'none'],
  ])('reads who is called what: %s', (line, kind) => {
    expect(insultIn(line).kind).toBe(kind);
  });

  it('leaves open what is too long to be read', () => {
    expect(insultIn('we are open '.repeat(400)).kind).toBe('none');
    expect(insultIn('we are open '.repeat(40_000)).kind).toBe('doubtful');
  });
});
