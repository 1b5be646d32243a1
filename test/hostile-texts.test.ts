/**
 * Texts of customers and of their callers that a careless pattern tries in all ways in which they can be parted. They
 * block the event loop, which all organizations share. Of SIP messages: edge/hostile-texts.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { loadGraph, validateGraph } from '#shared/agent/graph.ts';
import { keysInSpeech, namedKeys } from '#shared/agent/keys.ts';
import { dueTool } from '#shared/agent/node-tools.ts';
import { Sentences, spoken } from '#shared/agent/sentences.ts';
import { fillTarget, fillTemplate } from '#shared/agent/template.ts';
import { objectsIn } from '#shared/models/json-answer.ts';
import { conditionByRules } from '#shared/models/rule-conditions.ts';
import { bestSentence, quotedSentence } from '#shared/models/rule-engine.ts';
import { valueIn } from '#shared/models/rule-values.ts';
import { formerFact } from '../control/testing/analysis/former-log.ts';
import { softenedPrompt } from '../control/testing/analysis/soften.ts';
import { requestsIn } from '../control/testing/callers/asked.ts';
import { contradicts } from '../control/testing/callers/compare.ts';
import { hear } from '../control/testing/callers/hearing.ts';
import { callerProfile } from '../control/testing/callers/profile.ts';
import { insultIn } from '../control/testing/judging/insults.ts';
import { soundsDone } from '../control/testing/judging/settled.ts';
import { ruleWriter } from '../control/testing/scenarios/drafts.ts';
import { namesSaid } from '../control/testing/scenarios/redaction-names.ts';
import { patterns, withoutNumbers } from '../control/testing/scenarios/redaction-patterns.ts';
import { parseTemplate } from '../control/tools/template.ts';
import { asksWhoCalls } from '../edge/agent/answering/screening.ts';
import { cpuMsOf, hangMs } from './kit/cpu-time.ts';

const parts = [
  ' ',
  '\n',
  'a',
  'ß',
  '1',
  '!',
  '.',
  "'",
  '-',
  '"',
  '“',
  '; "',
  '" (',
  '[',
  '(',
  '{{',
  '{{a',
  '/',
  '@',
];
const words = ['a-', 'a1', 'A ', ', ', 'or ', 'option ', 'your a is ', 'to a ', 'press 1 ', '[a](http:'];
/** Before them what a pattern begins with, after them what it does not end with. */
const texts = (length: number, before = '') =>
  [...parts, ...words].map((part) => `${before}${part.repeat(length / part.length)}\u0001`);

const variables = { a: 'x' };
const situation = { node: { id: 'ask', name: 'Ask' }, variables, wanted: [], history: [] };
const wanted = (name: string, description = '') => ({ name, description, type: 'string' as const });
const tool = {
  toolId: 'T',
  name: 'find',
  description: '',
  speech: null,
  inputSchema: { type: 'object', required: ['of'], properties: { of: { type: 'string' } } },
};
const start = { id: 'a', type: 'Default', data: { name: 'a', isStart: true, text: 'Hello.' } };
const graphWith = (type: string, data: object) =>
  validateGraph(
    [start, { id: 'b', type, data: { name: 'b', ...data } }],
    [{ id: 'e', source: 'a', target: 'b', data: { label: 'on' } }],
    { refuseUrl: () => null, refuseTarget: () => null },
  );
const order = { key: 'order', value: 'SP4402', words: new Set(['order']) };
const inSentences = (text: string) => {
  const sentences = new Sentences();
  sentences.push(text);
  sentences.flush();
};

type Readers = Readonly<Record<string, (text: string) => unknown>>;

/** As long as a request may be. */
const authored: Readers = {
  'the keys of a label': (text) => namedKeys({ label: text, description: '' }),
  'the keys of a description': (text) => namedKeys({ label: '', description: text }),
  'the target of a transfer': (text) => graphWith('Transfer Call', { transferNumber: `{{a${text}@` }),
  'the URL of a webhook': (text) => graphWith('Webhook', { url: text }),
  'a condition': (text) => conditionByRules({ ...situation, condition: text }),
  'a comparison': (text) => conditionByRules({ ...situation, condition: `(a == ${text}` }),
  'a template': (text) => fillTemplate(`{{a${text}`, variables),
  'the template of a target': (text) => fillTarget(`{{a${text}`, variables),
  'the input of a tool': (text) => {
    const data = { ...start.data, toolCalls: [{ tool_id: 'T', inputs: { of: `{{${text}` } }] };
    const end = { id: 'b', type: 'End Call', data: { name: 'b', text: 'Bye.' } };
    const edges = [{ id: 'e', source: 'a', target: 'b', data: { label: 'on' } }];
    const node = loadGraph([{ ...start, data }, end], edges).nodes.get('a');
    expect(node && dueTool(node, [tool], variables, [])).toBeTruthy();
  },
  'the body of a tool': (text) => parseTemplate(`{"a": {{a${text}`),
  'the answer of a model': (text) => objectsIn(`${'<think>'.repeat(8000)}${text}`),
  'the quotations of a prompt': quotedSentence,
  'a knowledge base': (text) => bestSentence(text, 'what is a'),
  'sentences to speak': inSentences,
  'marks that are not spoken': spoken,
};
/** Words of a turn, and what a test keeps of them. */
const said: Readers = {
  'keys that are said': keysInSpeech,
  'an e-mail address': (text) => valueIn(text, wanted('email'), true),
  'a name': (text) => valueIn(`my name is ${text}`, wanted('name'), true),
  'an identifier': (text) => valueIn(text, wanted('account_number'), true),
  'a value': (text) => valueIn(text, wanted('city'), true),
  'a value that is named': (text) => valueIn(`the city is ${text}`, wanted('city'), true),
  'who asks for the caller': asksWhoCalls,
  'what a caller hears': (text) => hear([text]),
  'what is asked': requestsIn,
  'what is read back': (text) => contradicts(text, [order]),
  'what is settled': soundsDone,
  'an insult': (text) => insultIn(text.slice(-5000)),
  'the reason of an earlier log': (text) =>
    formerFact(`"x" is taken: no option matches "${text}`) ?? formerFact(text),
  'numbers to redact': (text) => withoutNumbers(text, () => 'x'),
  'what to redact': (text) => patterns.map(([, pattern]) => text.replaceAll(pattern, 'x')),
};
/** As long as the prompt of a persona. Most of it is the time of a grammar, which has no more of a longer word. */
const prompts: Readers = {
  'a tester persona': (text) => callerProfile({ ...brief, tester_persona_prompt: text }),
  'a prompt to soften': (text) => softenedPrompt(text, { unwanted: ['a1'], acknowledge: true }),
};
const brief = {
  category: 'HAPPY_PATH' as const,
  advanced_instructions: null,
  tester_persona_name: null,
  input_messages: null,
  metadata: null,
};

const opening = 'your name is "a ';

describe.each<[string, Readers, number, readonly string[]]>([
  ['a pathway', authored, 200_000, ['', opening]],
  ['a conversation', said, 80_000, ['', opening]],
  ['a test', prompts, 20_000, [opening]],
])('texts of %s', (_whose, readers, length, openings) => {
  it.each(Object.keys(readers))('%s: read at once', (name) => {
    const slow = openings
      .flatMap((before) => texts(length, before))
      .flatMap((text) => {
        const ms = cpuMsOf(() => readers[name]?.(text));
        return ms < hangMs ? [] : [`${text.slice(0, 40)}: ${Math.round(ms)} ms`];
      });
    expect(slow).toEqual([]);
  });
});

it.each(texts(20_000))('the scenario of a call is written at once from %#', async (content) => {
  const lines = [
    { role: 'assistant', content: `Your name, please. ${content}` },
    { role: 'user', content },
  ] as const;
  const before = process.threadCpuUsage();
  await ruleWriter.write(lines);
  await namesSaid(lines);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(hangMs);
});
