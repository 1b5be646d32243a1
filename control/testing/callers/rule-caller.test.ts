import { describe, expect, it } from 'vitest';
import { ruleWriter } from '../scenarios/drafts.ts';
import type { CallerBrief } from './ports.ts';
import { ruleCaller } from './rule-caller.ts';

/** The caller's answer to each line of the agent. */
async function answers(brief: Partial<CallerBrief>, ...agent: readonly string[]): Promise<string[]> {
  const caller = ruleCaller(
    {
      category: 'HAPPY_PATH',
      tester_persona_prompt: 'You want to book a room.\n- nights: 3\n- day: Tuesday',
      tester_persona_name: null,
      advanced_instructions: null,
      input_messages: null,
      metadata: null,
      ...brief,
    },
    1,
  );
  const said: string[] = [];
  for (const line of agent) {
    const view = { history: [], heard: [line], movesLeft: 20 };
    const move = await caller.next(view, new AbortController().signal);
    said.push(move.type === 'say' ? move.text : move.type);
  }
  return said;
}

const hello = 'How can I help you?';

describe('a cooperative caller', () => {
  it.each([
    ['So 3 nights, is that right?', /^Yes/],
    ['Would you like Tuesday?', /^Yes/],
    ['So 5 nights, is that right?', /^No\b.* 3\.$/],
    ['Would you like Monday or Tuesday?', /\bTuesday\b/],
    ['Can you tell me how many nights?', /\b3\b/],
    ['For how many nights?', /\b3\b/],
  ])('asked "%s" says %s', async (question, expected) => {
    const [, answer] = await answers({}, hello, question);
    expect(answer).toMatch(expected);
  });

  it.each([
    ['What are the last four of the card?', /\b9921\b/],
    ['I have SP4420. Correct?', /^No\b.*SP4402/],
    ['I have SP4402. Correct?', /^Y/],
    ['Is it just for two people?', /^No\b.*\b5\b/],
    ['Is this Mr. Green?', /^No\b.*Ford/],
    ['Why are you calling?', /\bdamage\b/],
  ])('tells its own facts: "%s" gets %s', async (question, expected) => {
    const tester_persona_prompt =
      'You are Nina Ford. You want to report damage to your parcel.\n- tracking number: SP4402\n- last four digits of the card: 9921\n- number of people: 5';
    const [, answer] = await answers({ tester_persona_prompt }, hello, question);
    expect(answer).toMatch(expected);
  });

  it.each([
    ['You are called for a survey. You have no time.', /^No\b.*\btime/],
    ['You are called for a survey and have time for it.', /^(?!No\b)/],
  ])('instructed "%s" says whether it has time', async (tester_persona_prompt, expected) => {
    const [answer] = await answers(
      { tester_persona_prompt },
      'Hello, this is Clearview Research. Do you have two minutes for a survey?',
    );
    expect(answer).toMatch(expected);
  });

  it.each([
    ['What is the best number to call you back?', '+14155550142'],
    ['What is your order number?', '88231'],
    ['And your first name?', 'Dana'],
    ['When do you want to start?', 'Friday'],
  ])('asked "%s" says %s', async (question, expected) => {
    const tester_persona_prompt =
      'You want to book a class.\n- first name: Dana\n- phone number: +14155550142\n- order number: 88231\n- start date: Friday';
    const [, answer] = await answers({ tester_persona_prompt }, hello, question);
    expect(answer).toContain(expected);
    expect(answer).not.toMatch(/ and /);
  });

  it("states its goal, without the persona's description of it", async () => {
    const tester_persona_prompt = 'You want a refund for your shoes, they fell apart.';
    const [goal] = await answers({ tester_persona_prompt }, hello);
    expect(goal).toContain('a refund for my shoes');
    expect(goal).not.toContain('apart');
  });
});

describe('a caller', () => {
  it.each([
    ['line ends', '\n'],
    ['blanks', ' '],
    ['tabs', '\t'],
    ['menus', 'for '],
    ['quotes', '"'],
    ['wishes', 'you want to '],
  ])('whose prompt and agent are full of %s answers in linear time', async (_what, part) => {
    const text = `x${part.repeat(20_000 / part.length - 1)}x`;
    expect(await answers({ tester_persona_prompt: text }, `${text}${text}`, hello)).toHaveLength(2);
  });
});

describe('a caller from a call', () => {
  it('says what was said there, and makes up what was redacted', async () => {
    const draft = await ruleWriter.write([
      { role: 'assistant', content: 'Hello, this is the front desk.' },
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: 'Is it about an order, or shall I connect you?' },
      { role: 'user', content: 'It is about my order.' },
      { role: 'assistant', content: 'Please tell me the order number.' },
      { role: 'user', content: 'It is [number].' },
      { role: 'assistant', content: 'Which colour would you like?' },
      { role: 'user', content: 'I would like dark green.' },
      { role: 'assistant', content: 'It is on its way. Anything else?' },
      { role: 'user', content: 'No, thanks.' },
    ]);
    expect(draft.name).toBe('Cooperative caller: It is about my order.');
    expect(draft.tester_persona_prompt.split('\n').slice(1, 4)).toEqual([
      'Goal: "It is about my order."',
      '- order number: [number]',
      '- colour: dark green',
    ]);
    const { category, tester_persona_prompt } = draft;
    const lines = [
      'Is it about an order, or shall I connect you?',
      'Please tell me the order number.',
      'Which colour would you like?',
    ];
    const [goal, number, colour] = await answers({ category, tester_persona_prompt }, ...lines);
    expect(goal).toContain('It is about my order.');
    expect(number).toContain('4821');
    expect(colour).toContain('dark green');
  });
});

describe('an angry caller', () => {
  const angry = {
    category: 'ANGRY_CALLER',
    tester_persona_prompt: 'You want a refund.\n- order number: 88231',
  } as const;

  it('who was taken seriously answers questions', async () => {
    const [, number, yes] = await answers(
      angry,
      hello,
      'I am sorry to hear that. What is your order number?',
      'Refunds take fourteen days. Shall I connect you with billing?',
    );
    expect(number).toContain('88231');
    expect(yes).toMatch(/^Yes/);
  });

  it('who is not taken seriously answers nothing, and hangs up', async () => {
    const said = await answers(
      angry,
      hello,
      ...Array.from({ length: 3 }, () => 'What is your order number?'),
    );
    expect(said.join(' ')).not.toContain('88231');
    expect(said.at(-1)).toBe('That is it, I am done with you!');
  });
});
