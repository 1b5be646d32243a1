import { describe, expect, it } from 'vitest';
import { chat, conversation } from '../../../test/kit/control/agent-testing.ts';
import { templates } from '../scenarios/templates.ts';
import type { ConversationRecord, JudgeQuestion } from './ports.ts';
import { applyRubric } from './rubric.ts';
import { ruleJudge } from './rule-judge.ts';

const rubric = (...lines: string[]) =>
  `Judge this.\n\nRubric:\n${lines.map((line) => `- ${line}`).join('\n')}`;

async function holds(statement: string, record: Partial<ConversationRecord>): Promise<boolean> {
  const answer = await applyRubric(rubric(statement), conversation(record));
  if (answer.kind !== 'decided') throw new Error(`${answer.kind}: ${statement}`);
  return answer.share === 1;
}

const said = chat(
  'assistant: Hello, how can I help?',
  'user: You idiot!',
  'assistant: I’m sorry to hear that. What happened?',
  'user: Bye.',
);
const by = (who: ConversationRecord['ending']['by']) => ({ ending: { by: who, reason: 'It ended.' } });
const transferredTo = (target: string) => ({
  ending: { by: 'transfer' as const, reason: 'It ended.', transferred_to: target },
});

describe('a rubric’s statement', () => {
  it.each([
    ['agent says one of: "sorry", "understand"', { chat_history: said }, true],
    ['agent says one of: "I\'m sorry"', { chat_history: said }, true],
    ['agent says one of: "elp"', { chat_history: said }, false],
    ['agent says one of: "idiot"', { chat_history: said }, false],
    ['agent never says: "what happened"', { chat_history: said }, false],
    ['agent never says: “what happened”', { chat_history: said }, false],
    ['agent never says: "nothing" or "what happened".', { chat_history: said }, false],
    ['agent never insults.', { chat_history: said }, true],
    ['agent never insults', { chat_history: said }, true],
    ['agent never insults', { chat_history: chat('assistant: Shut up.') }, false],
    ['agent never insults', { chat_history: chat('assistant: Sorry, you are an idiot.') }, false],
    ['agent never insults', { chat_history: chat('assistant: The Dumb Waiter opens at eight.') }, true],
    ['agent never insults', { chat_history: chat('assistant: The man was arrested.') }, true],
    ['agent never insults', { chat_history: chat('assistant: You’re not stupid at all.') }, true],
    ['agent speaks at least 2 times', { chat_history: said }, true],
    ['agent speaks at most 1 times', { chat_history: said }, false],
    ['agent asks at least 2 questions', { chat_history: said }, true],
    ['agent asks at most 1 question', { chat_history: said }, false],
    ['agent says at most 8 words at once', { chat_history: said }, true],
    ['agent says at most 7 words at once', { chat_history: said }, true],
    ['agent says at most 6 words at once', { chat_history: said }, false],
    ['agent never says a line 2 times', { chat_history: said }, true],
    ['agent never says a line 2 times', { chat_history: chat('assistant: Hm.', 'assistant: Oh.') }, true],
    ['agent never says a line 2 times', { chat_history: chat('assistant: Hm.', 'assistant: hm!') }, false],
    ['agent never says a line 2 times', { chat_history: chat('assistant: Hm.', 'assistant: hm.') }, false],
    ['agent answers every caller line', { chat_history: said, ...by('caller') }, true],
    ['agent answers every caller line', { chat_history: said, ...by('max_turns') }, false],
    ['agent ends the call', by('agent'), true],
    ['agent ends the call', by('transfer'), false],
    ['agent ends or transfers the call', by('transfer'), true],
    ['agent transfers to +14155550123', transferredTo('+14155550123'), true],
    ['agent transfers to +14155550123.', transferredTo('+14155550123'), true],
    ['agent transfers to +14155550123', transferredTo('+14155550999'), false],
    ['agent transfers to +14155550123', by('transfer'), false],
    ['agent transfers to +14155550123', by('agent'), false],
    ['agent never ends the call', by('agent'), false],
    ['conversation ends before the turn limit', by('max_turns'), false],
    ['variable date is known', { variables: { date: '2030-01-01' } }, true],
    ['variable toString is known', {}, false],
    ['agent tells one of: "booked"', { chat_history: chat('assistant: Fine. You are booked.') }, true],
    ['agent tells one of: "booked"', { chat_history: chat('assistant: Is it booked? Yes.') }, false],
    ['agent tells one of: "booked"', { chat_history: chat('assistant: It is not booked.') }, false],
    ['agent leaves no gaps', { chat_history: chat('assistant: So, on May 4, is that right?') }, true],
    ['agent leaves no gaps', { chat_history: chat('assistant: So  on , is that right?') }, false],
    ['agent leaves no gaps', { chat_history: chat('assistant: Hello {{name}}.') }, false],
    ['agent settles the matter', { chat_history: chat('assistant: Your table is reserved.') }, true],
    ['agent settles the matter', { chat_history: chat('assistant: Can I help with anything else?') }, true],
    ['agent settles the matter', { chat_history: chat('assistant: Is it booked?') }, false],
    ['agent settles the matter', { chat_history: chat('assistant: I call when it is booked.') }, false],
    ['agent settles the matter', by('transfer'), true],
    ['caller never gives up', by('caller'), true],
    ['caller never gives up', { ending: { by: 'caller', reason: 'The caller lost patience.' } }, false],
  ] as const)('%s', async (statement, record, expected) => {
    expect(await holds(statement, record)).toBe(expected);
  });

  it.each([
    'agent never says: what happened',
    "agent never says: 'what happened'",
    'agent never says: "hello", what happened',
    'agent never says: ""',
    'agent never says: "hello',
    'agent says one of: sorry',
    `agent never says: ${Array.from({ length: 31 }, (_, at) => `"p${at}"`).join(', ')}`,
  ])('is unreadable without phrases in quotes: %s', async (statement) => {
    const answer = await applyRubric(rubric(statement), conversation({ chat_history: said }));
    expect(answer).toEqual({ kind: 'unreadable', line: statement });
  });
});

describe('a rubric', () => {
  it('is read to its end, so that no malformed statement is skipped', async () => {
    const prompt = 'Judge this.\nRubric:\n- agent never insults\n* agent speaks at least 9 times\n';
    expect(await applyRubric(prompt, conversation({ chat_history: said }))).toMatchObject({ share: 0.5 });
    const more = `${prompt}And be strict.`;
    expect(await applyRubric(more, conversation({ chat_history: said }))).toEqual({
      kind: 'unreadable',
      line: 'And be strict.',
    });
  });

  it('with too many statements is rejected: it would block others', async () => {
    const lines = (count: number) => rubric(...Array.from({ length: count }, () => 'agent never insults'));
    expect(await applyRubric(lines(30), conversation())).toMatchObject({ kind: 'decided' });
    expect(await applyRubric(lines(31), conversation())).toMatchObject({ kind: 'unreadable' });
  });
});

describe('the judge without a model', () => {
  const ask = (prompt: string, output: JudgeQuestion['output'] = { type: 'boolean' }) =>
    ruleJudge.verdict({
      prompt,
      output,
      place: 'criterion',
      model: null,
      record: conversation({ chat_history: said }),
      seed: 1,
    });

  it('decides by the rubric only, and quotes the decisive lines', async () => {
    const prompt = rubric('agent says one of: "sorry"', 'agent ends or transfers the call');
    expect(await ask(prompt)).toEqual({
      kind: 'verdict',
      value: true,
      reasoning: 'Holds: agent says one of: "sorry". Holds: agent ends or transfers the call.',
      evidence: [{ turn: 2, quote: 'I’m sorry to hear that. What happened?' }],
    });
    const half = rubric('agent says one of: "sorry"', 'agent speaks at most 1 times');
    expect(await ask(half)).toMatchObject({ value: false });
    expect(await ask(half, { type: 'score' })).toMatchObject({ value: 0.5 });
  });

  it('is undecided without a rubric, with an unreadable one, and for categories', async () => {
    expect(await ask('Was the agent nice?')).toMatchObject({ kind: 'undecided' });
    expect(await ask(rubric('agent says one of: "sorry"', 'agent is nice'))).toMatchObject({
      kind: 'undecided',
      reason: expect.stringContaining('agent is nice'),
    });
    const categories = { type: 'categorical' as const, categories: ['a', 'b'] };
    expect(await ask(rubric('agent never insults'), categories)).toMatchObject({ kind: 'undecided' });
  });

  it('does not judge the tone: an apology is no proof of one', async () => {
    const record = conversation({
      chat_history: chat('user: You idiots!', 'assistant: Sorry, you are an idiot.'),
    });
    expect(await ruleJudge.tone(record, 1)).toMatchObject({ kind: 'without_model' });
  });

  it('is undecided where a line can only be read, unless another statement does not hold', async () => {
    const record = conversation({ chat_history: chat('assistant: You need a doctor for your head.') });
    const ask2 = (...lines: string[]) =>
      ruleJudge.verdict({
        prompt: rubric(...lines),
        output: { type: 'boolean' },
        place: 'criterion',
        model: null,
        record,
        seed: 1,
      });
    expect(await ask2('agent never insults')).toMatchObject({
      kind: 'undecided',
      reason: expect.stringContaining('You need a doctor for your head.'),
    });
    expect(await ask2('agent never insults', 'agent speaks at least 2 times')).toMatchObject({
      value: false,
    });
  });
});

describe('the templates', () => {
  it('have rubrics that rules can read, except where only a model can judge', async () => {
    const open: string[] = [];
    for (const { id, assertions } of templates) {
      for (const { type, name, config } of assertions) {
        if (type !== 'LLM_JUDGE') continue;
        const answer = await applyRubric(String(config.prompt), conversation());
        if (answer.kind !== 'decided') open.push(`${id}: ${name}: ${answer.kind}`);
      }
    }
    expect(open).toEqual(['tmpl_edge_interruptions: Invents no facts: none']);
  });
});
