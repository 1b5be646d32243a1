import { describe, expect, it } from 'vitest';
import { WordsHeard } from './heard-words.ts';
import { newState } from './persona-state.ts';
import { PersonaWords } from './persona-words.ts';

const all = (text: string) => ({ text, heard: text });

it('cuts texts, one after the other, to the words that were heard', () => {
  const heard = new WordsHeard([all('Good day.'), { text: 'This is', heard: 'This' }]);
  expect(['Good  day.', 'This is Ada.', 'How are you?'].map((text) => heard.of(text))).toEqual([
    'Good  day.',
    'This',
    '',
  ]);
});

it('takes out what was not heard in the midst of others, however the texts were cut for the voice', () => {
  const said = [
    all('Good day.'),
    { text: 'This is Ada.', heard: '' },
    { text: 'I can help', heard: 'I can' },
    all('you.'),
  ];
  const whole = new WordsHeard(said);
  expect(whole.of(' Good day.  This is Ada. I can help you. ')).toBe('Good day. I can you.');
  const parts = new WordsHeard(said);
  expect(
    ['Good', 'day. This is', ' Ada.', 'I  can help you.', 'More.'].map((text) => parts.of(text)),
  ).toEqual(['Good', 'day.', '', 'I  can you.', '']);
});

describe("a persona's words", () => {
  const call = { id: '1', name: 'find_order', input: {} };
  function spoken() {
    const state = newState();
    const words = new PersonaWords(state);
    state.turns.push({ role: 'user', text: 'Hello' });
    words.commit('Before this.', 'Before this.');
    words.begin();
    words.commit('', '', [call]);
    state.messages.push({ role: 'tool', callId: '1', name: 'find_order', result: '{}' });
    words.add('One second.');
    words.commit('**It** was sent.', 'It was sent.');
    words.commit('It comes soon.', 'It comes soon.');
    return { state, words };
  }

  it('are cut for the model and for people, and what was not heard at all is taken out', () => {
    const { state, words } = spoken();
    words.cut([all('One second.'), { text: 'It was sent.', heard: 'It was' }]);
    expect(state.turns.map(({ text }) => text)).toEqual(['Hello', 'Before this.', 'One second.', 'It was']);
    expect(state.messages).toEqual([
      { role: 'assistant', text: 'Before this.', calls: [] },
      { role: 'assistant', text: '', calls: [call] },
      { role: 'tool', callId: '1', name: 'find_order', result: '{}' },
      { role: 'assistant', text: 'It was', calls: [] },
    ]);
  });

  it('lose one that could not be spoken, and keep those after it', () => {
    const { state, words } = spoken();
    words.cut([all('One second.'), { text: 'It was sent.', heard: '' }, all('It comes soon.')]);
    expect(state.turns.map(({ text }) => text).slice(2)).toEqual(['One second.', 'It comes soon.']);
    expect(state.messages.slice(-2)).toEqual([
      { role: 'tool', callId: '1', name: 'find_order', result: '{}' },
      { role: 'assistant', text: 'It comes soon.', calls: [] },
    ]);
  });

  it('stay as written when all were heard, and go when none were', () => {
    const { state, words } = spoken();
    words.cut([all('One second. It was sent.'), all('It comes soon.')]);
    expect(state.messages.at(-2)).toMatchObject({ text: '**It** was sent.' });
    expect(state.turns).toHaveLength(5);
    words.cut([]);
    expect(state.turns.map(({ text }) => text)).toEqual(['Hello', 'Before this.']);
    expect(state.messages.map(({ role }) => role)).toEqual(['assistant', 'assistant', 'tool']);
  });
});
