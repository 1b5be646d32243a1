import { describe, expect, it } from 'vitest';
import { affirmation, telling } from './affirmed.ts';
import { gap, saysDone, statements } from './settled.ts';

describe('a phrase that only occurs', () => {
  it.each([
    ['I am sorry.', 'said'],
    ['I am not sorry.', 'none'],
    ['I’m not really sorry.', 'none'],
    ['I am not going to say sorry.', 'none'],
    ['There is nothing to be sorry about.', 'none'],
    ['I refuse to be sorry.', 'none'],
    ['I don’t think I need to say sorry.', 'none'],
    ['I cannot see why anybody should be sorry.', 'said'],
    ['It is not as if anybody was sorry.', 'doubtful'],
    ['That is not right, sorry.', 'said'],
    ['That is not right and I am sorry.', 'said'],
    ['I can’t tell you how sorry I am.', 'said'],
    ['I could not be more sorry.', 'said'],
    ['Not only am I sorry, I will call you.', 'said'],
    ['No, sorry.', 'said'],
    ['I cannot find it. Sorry!', 'said'],
    ['I am not sorry. Well, I am sorry.', 'said'],
    ['I was arrested by sorrysville.', 'none'],
  ])('is not said: %s', (line, kind) => {
    expect(affirmation(line, ['sorry'])).toBe(kind);
  });

  it.each([
    ['We will send a refund.', 'said'],
    ['There is no refund.', 'none'],
    ['You get no full refund.', 'none'],
    ['Nobody here can speak about a refund.', 'doubtful'],
    ['We will not do that.', 'none'],
    ['We will never do that.', 'none'],
    ['If you do not like it we will take it back.', 'said'],
    ['Once there is a refund you get a letter.', 'doubtful'],
    ['If you agree, a refund is sent.', 'said'],
  ])('does not tell it: %s', (line, kind) => {
    expect(telling(line, ['refund', 'we will'])).toBe(kind);
  });

  it('is told by a statement with a tag', () => {
    expect(statements('It is booked, okay? Is it booked?')).toEqual(['It is booked, okay?']);
  });
});

describe('an agent that says that it is done', () => {
  it.each([
    ['Your appointment is booked for Tuesday.', 'said'],
    ['Your appointment on Tuesday at nine is booked.', 'said'],
    ['Booked, goodbye.', 'said'],
    ['Okay, done. Goodbye.', 'said'],
    ['Good, Tuesday is free. I have booked it.', 'said'],
    ['Tuesday is full, but your table is booked for Friday.', 'said'],
    ['Is there anything else?', 'said'],
    ['No problem, your table is booked.', 'said'],
    ['Everything is set up.', 'said'],
    ['Nothing is booked.', 'none'],
    ['No table is booked.', 'none'],
    ['I’m afraid nothing is booked.', 'none'],
    ['All slots are booked.', 'none'],
    ['All our tables are booked.', 'none'],
    ['We are booked until May.', 'none'],
    ['The hall is booked.', 'none'],
    ['That line is done for.', 'none'],
    ['Cancelled appointments are charged.', 'none'],
    ['Unfortunately your appointment was cancelled.', 'none'],
    ['Is it booked?', 'none'],
    ['Once it is booked, you get a mail.', 'none'],
    ['Tuesday at nine is booked.', 'doubtful'],
  ])('%s', (line, kind) => {
    expect(saysDone(line)).toBe(kind);
  });
});

describe('a gap where a value is missing', () => {
  it.each([
    ['So  on , is that right?', true],
    ['Your number is . Correct?', true],
    ['Your appointment is on . Goodbye.', true],
    ['Your total is $ for the month.', true],
    ['Hello null, welcome.', true],
    ['Hello undefined, welcome.', true],
    ['So that is None, correct?', true],
    ['Dear {{name}}', true],
    ['None of them. It is null and void.', false],
    ['That is an undefined term.', false],
    ['It is 5 € a month, or $5.', false],
    ['We open at nine.  Please come.', false],
  ])('%s', (line, isGap) => {
    expect(gap.test(line)).toBe(isGap);
  });
});
