/** What a seed varies, and what it does not. */
import { describe, expect, it } from 'vitest';
import type { CallerBrief } from './ports.ts';
import { ruleCaller } from './rule-caller.ts';

const agent = [
  'Hotel Lake, how can I help you?',
  'For how many nights?',
  'And your name and your phone number, please?',
  'So that is 15 nights from Tuesday, right?',
  'Your room is booked. Anything else?',
];

async function said(brief: Partial<CallerBrief>, seed: number): Promise<string[]> {
  const caller = ruleCaller(
    {
      category: 'CUSTOM',
      tester_persona_prompt:
        'You want to book a room.\n- name: Sam Reed\n- phone number: +1 415 555 0142\n- nights: 15\n- day: Tuesday',
      tester_persona_name: null,
      advanced_instructions: null,
      input_messages: null,
      metadata: null,
      ...brief,
    },
    seed,
  );
  const lines: string[] = [];
  for (const line of agent) {
    const view = { history: [], heard: [line], movesLeft: 20 };
    const move = await caller.next(view, new AbortController().signal);
    lines.push(move.type === 'say' ? move.text : move.type);
  }
  return lines;
}

const seeds = Array.from({ length: 40 }, (_, index) => index);
const all = (brief: Partial<CallerBrief>) => Promise.all(seeds.map((seed) => said(brief, seed)));

describe('seeds', () => {
  it('give other words for the same facts, and the same words for the same seed', async () => {
    const conversations = await all({});
    expect(new Set(conversations.map((lines) => lines.join('\n'))).size).toBeGreaterThan(30);
    expect(await all({})).toEqual(conversations);
    for (const [goal, nights, contact] of conversations) {
      expect(goal).toMatch(/book a room/);
      expect(nights).toMatch(/\b15\b/);
      expect(contact).toMatch(/Sam Reed/);
      expect(contact).toMatch(/415 555 0142/);
    }
    expect(new Set(conversations.map(([, , contact]) => contact?.indexOf('Sam'))).size).toBeGreaterThan(1);
  });

  it.each([
    ['corrections', /50.*\b15\b|no wait|sorry/i, 1],
    ['misheard', /\b50\b/, 1],
  ] as const)('vary %s at the rate of the scenario', async (name, expected, line) => {
    const rate = (value: number) => all({ metadata: { variation: { [name]: value } } });
    const matching = (runs: string[][]) => runs.filter((lines) => expected.test(lines[line] ?? '')).length;
    expect(matching(await rate(0))).toBe(0);
    expect(matching(await rate(1))).toBe(seeds.length);
  });

  it('vary how much is told at once, and what is mistaken', async () => {
    const partly = await all({ metadata: { variation: { partial: 1 } } });
    for (const [, , contact = ''] of partly) expect(/Reed/.test(contact)).not.toBe(/0142/.test(contact));
    const deaf = await all({ metadata: { variation: { mishears: 1 } } });
    for (const [, , , echo] of deaf) expect(echo).toMatch(/^Sorry, did you say (?:50|Thursday)\?$/);
  });

  it.each([
    [
      'a mailbox',
      'VOICEMAIL',
      'You are a mailbox. Say "You have reached Dana Reed."',
      /You have reached Dana Reed\..*\(beep\)$/,
    ],
    ['a mailbox without a greeting', 'VOICEMAIL', 'You are a mailbox.', /\(beep\)$/],
    ['a screening service', 'CALL_SCREENER', 'You are a screening service.', /call/],
  ] as const)('vary %s', async (_, category, tester_persona_prompt, opening) => {
    const conversations = await all({ category, tester_persona_prompt });
    expect(new Set(conversations.map((lines) => lines.join('\n'))).size).toBeGreaterThan(5);
    for (const [first] of conversations) expect(first).toMatch(opening);
  });
});
