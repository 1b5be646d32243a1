import { describe, expect, it } from 'vitest';
import { isBackChannel as isBackChannelIn, takesTurn as takesTurnIn } from './back-channels.ts';

const isBackChannel = (words: string) => isBackChannelIn(words, 'en-US');
const takesTurn = (words: string) => takesTurnIn(words, 'en-US');

it.each([
  'Mhm.',
  'uh-huh',
  'Mm-hmm',
  'Yeah, yeah.',
  'Okay, got it.',
  'I see.',
  'Right, that’s right',
  'Hmm…',
])('%j shows that somebody listens', (words) =>
  expect([isBackChannel(words), takesTurn(words)]).toEqual([true, false]),
);

it.each([
  'Stop',
  'No.',
  'Wait, wait',
  'Yeah, but I asked for Tuesday',
  'What?',
  'Okay stop',
  'Ja bitte',
  '四',
])('%j takes the turn', (words) => expect([isBackChannel(words), takesTurn(words)]).toEqual([false, true]));

it('takes no turn without words', () => {
  expect(['', ' ', '...'].map(takesTurn)).toEqual([false, false, false]);
});

it.each(['I', 'Okay, got', 'Makes'])(
  '%j may become what shows that somebody listens, and takes the turn only when something else follows',
  (words) => {
    expect([isBackChannel(words), takesTurn(words)]).toEqual([false, false]);
    expect([takesTurn(`${words} a question`), takesTurn(`${words}, stop`)]).toEqual([true, true]);
  },
);

it('judges the words after a phrase', () => {
  expect([takesTurn('I see, I'), takesTurn('I see, I want more'), takesTurn('I stop')]).toEqual([
    false,
    true,
    true,
  ]);
});

const languages: Record<string, readonly [listens: readonly string[], takes: readonly string[]]> = {
  'de-DE': [
    ['Ja, genau.', 'Mhm', 'Ach so, alles klar', 'Ja, ich verstehe', 'Hm, okay'],
    ['Nein', 'Stopp', 'Ja, aber wann?', 'Ich möchte'],
  ],
  'fr-CA': [
    ["Oui, d'accord", 'Tout à fait', 'Très bien', 'C’est ça', 'Allez-y', 'Bien sûr'],
    ['Non', 'Attendez', 'Oui mais', 'Je voudrais'],
  ],
  es: [
    ['Sí, claro', 'Vale', 'Claro que sí', 'si', 'Ajá, de acuerdo', 'Muy bien'],
    ['No', 'Espere', 'Sí, pero', 'Otra pregunta'],
  ],
  'it-IT': [
    ['Sì, sì', 'Va bene', 'Certo, ho capito', "D'accordo", 'È vero'],
    ['No', 'Aspetti', 'Sì, però', 'Vorrei sapere'],
  ],
  'pt-BR': [
    ['Sim', 'Tá bom', 'Pois é, é verdade', 'Uhum', 'Com certeza'],
    ['Não', 'Espere', 'Sim, mas', 'É que'],
  ],
  'nl-NL': [
    ['Ja, precies', 'Oké', 'Ik snap het', 'Dat is goed', 'Inderdaad, dat klopt'],
    ['Nee', 'Wacht even', 'Ja maar', 'Ik wil iets vragen'],
  ],
};

describe.each(Object.entries(languages))('in %s', (language, [listens, takes]) => {
  it.each(listens)('%j shows that somebody listens', (words) =>
    expect([isBackChannelIn(words, language), takesTurnIn(words, language)]).toEqual([true, false]),
  );

  it.each(takes)('%j takes the turn', (words) =>
    expect([isBackChannelIn(words, language), takesTurnIn(words, language)]).toEqual([false, true]),
  );
});

it('waits for the third word of a phrase', () => {
  expect(['Ik', 'Ik begrijp', 'Ja, ik begrijp het'].map((words) => takesTurnIn(words, 'nl'))).toEqual([
    false,
    false,
    false,
  ]);
  expect(['Ik begrijp niets', 'Ik begrijp het niet'].map((words) => takesTurnIn(words, 'nl'))).toEqual([
    true,
    true,
  ]);
});

it('knows the sounds of listeners in every language, and the words of no other', () => {
  expect(['Mhm.', 'Hmm', 'OK', 'Yes', 'Да'].map((words) => isBackChannelIn(words, 'ru-RU'))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
