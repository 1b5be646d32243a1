import { describe, expect, it } from 'vitest';
import { greetings, longAnswers, people, screening } from '../../../test/kit/agent/answers.ts';
import { isMailbox } from './mailbox.ts';

describe('a mailbox', () => {
  it.each(greetings)('is recognized by %j', (text) => expect(isMailbox(text)).toBe(true));

  it.each([
    'Hey, it’s Tom, I can’t come to the phone right now.',
    'You have reached the mailbox of 555 0182.',
    'Sorry, we are unable to take your call at the moment.',
    'Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
    'Sie sind verbunden mit der Mailbox von Anna Berg.',
    'Vous êtes bien sur le répondeur de Jean. Laissez-moi un message après le bip.',
    'Deje su mensaje después de la señal.',
    'Este es el buzón de voz de María.',
    'Risponde la segreteria telefonica di Carlo, lasciate un messaggio dopo il segnale acustico.',
    'Deixe a sua mensagem após o sinal.',
    'Spreek een bericht in na de piep.',
  ])('is recognized by %j, too', (text) => expect(isMailbox(text)).toBe(true));
});

describe('not a mailbox', () => {
  it.each([
    ...people,
    ...longAnswers,
    ...screening,
    'He is not here. Would you like to leave a message?',
    'You can leave a message with me.',
    'I can take a message for her.',
    'Did you get my message?',
    'I am not available on Monday.',
    'Möchten Sie eine Nachricht hinterlassen?',
    'Voulez-vous laisser un message ?',
    '¿Quiere dejar un mensaje?',
    'Vuole lasciare un messaggio?',
    'Quer deixar um recado?',
    'Wilt u een bericht achterlaten?',
    '',
  ])('is %j', (text) => expect(isMailbox(text)).toBe(false));

  it('is known in linear time of the longest text', () => {
    expect(isMailbox(`you reached ${'a mail '.repeat(100_000)}`)).toBe(false);
  });
});
