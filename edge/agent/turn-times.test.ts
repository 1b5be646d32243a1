import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { TurnTimes } from './turn-times.ts';

let clock: FakeClock;
let marks: string[];
let times: TurnTimes;

beforeEach(() => {
  clock = new FakeClock();
  marks = [];
  times = new TurnTimes({ mark: ({ turn, what, at }) => void marks.push(`${turn} ${what} ${at}`) }, clock);
});

/** The caller speaks for a second, pauses for half of one, and its words are known 100 ms later. */
function caller(): void {
  times.voice();
  clock.advance(1500);
  times.over(500);
  clock.advance(100);
  times.words(false);
  times.asks();
}

/** The answer to it. */
function answer(): AbortSignal {
  const turn = new AbortController().signal;
  times.asked(turn);
  times.taken(turn);
  return turn;
}

describe('the times of a turn', () => {
  it('go from the voice of the caller to the end of the answer', () => {
    const greeting = answer();
    times.decided(greeting);
    times.frame(true);
    clock.advance(200);
    times.frame(false);
    clock.advance(800);
    caller();
    times.goesOn('words');
    const turn = answer();
    clock.advance(50);
    times.token();
    clock.advance(150);
    times.decided(turn);
    clock.advance(100);
    times.frame(true);
    clock.advance(1000);
    times.frame(false);
    clock.advance(40);
    times.end();
    expect(marks).toEqual([
      '0 decided 0',
      '0 sound 0',
      '1 voice 1000',
      '1 pause 2000',
      '1 turn 2500',
      '1 words 2600',
      '0 end 200',
      '1 token 2650',
      '1 decided 2800',
      '1 sound 2900',
      '1 end 3900',
    ]);
  });

  it('have those of an answer that was asked for in the pause once it is taken, and none of one thrown away', () => {
    times.voice();
    const [dropped, taken] = [new AbortController().signal, new AbortController().signal];
    times.asked(dropped);
    times.token();
    times.decided(dropped);
    clock.advance(400);
    times.asked(taken);
    clock.advance(10);
    times.token();
    clock.advance(10);
    times.decided(taken);
    clock.advance(80);
    times.over(100);
    times.words(false);
    times.asks();
    times.goesOn('words');
    times.taken(taken);
    expect(marks).toEqual([
      '1 voice 0',
      '1 pause 400',
      '1 turn 500',
      '1 words 500',
      '1 token 410',
      '1 decided 420',
    ]);
  });

  it('are those of the words that are answered: not of a "mhm", and in their order when several wait', () => {
    caller();
    times.voice();
    times.over(0);
    times.words(false);
    caller();
    marks.length = 0;
    times.goesOn('words');
    times.frame(true);
    times.goesOn('words');
    times.frame(false);
    times.frame(true);
    expect(marks).toEqual(['1 sound 3200', '1 end 3200', '3 sound 3200']);
  });

  it('are those of the last words when several turns are answered together', () => {
    caller();
    times.voice();
    times.over(0);
    times.words(false);
    times.asks(true);
    marks.length = 0;
    times.goesOn('words');
    times.frame(true);
    times.goesOn('words');
    expect(marks).toEqual(['2 sound 1600', '2 end 1600', '3 words 1600']);
  });

  it('are not those of an earlier turn whose words nobody tells', () => {
    times.voice();
    times.over(0, false);
    times.voice();
    times.over(0);
    times.words(false);
    expect(marks.at(-1)).toBe('2 words 0');
  });

  it('are those of keys and of silence too', () => {
    times.goesOn('keys');
    clock.advance(5000);
    times.goesOn('silence');
    expect(marks).toEqual(['1 keys 0', '2 silence 5000']);
  });

  it('tell of an interruption with the turn whose speech it stops, and of one taken back', () => {
    const sound = {
      playing: true,
      leftMs: 500,
      hold: () => {},
      resume: () => {},
      lower: () => {},
      raise: () => {},
    };
    const watched = times.watched(sound);
    times.goesOn('keys');
    times.frame(true);
    watched.hold();
    clock.advance(300);
    watched.resume(300);
    watched.lower();
    clock.advance(200);
    times.cut();
    times.frame(false);
    times.voice();
    times.goesOn('silence');
    expect(marks).toEqual([
      '1 keys 0',
      '1 sound 0',
      '1 held 0',
      '1 resumed 300',
      '1 held 300',
      '1 cut 500',
      '2 voice 500',
      '1 end 500',
      '3 silence 500',
    ]);
    expect([watched.playing, watched.leftMs]).toEqual([true, 500]);
  });

  it('of a model that hears the caller itself are those that its server tells', () => {
    times.frame(true);
    clock.advance(1000);
    times.voice();
    times.cut();
    times.frame(false);
    clock.advance(700);
    times.over(0);
    clock.advance(300);
    times.answers();
    times.frame(true);
    times.words(false);
    times.frame(false);
    times.words(false);
    expect(marks).toEqual([
      '0 sound 0',
      '1 voice 1000',
      '0 cut 1000',
      '1 pause 1700',
      '1 turn 1700',
      '0 end 1000',
      '1 sound 2000',
      '1 words 2000',
      '2 words 2000',
    ]);
  });

  it('have no words of a caller who was not understood', () => {
    times.voice();
    times.over(0);
    times.words(true);
    times.voice();
    times.over(0);
    times.words(false);
    expect(marks.filter((mark) => mark.includes('words'))).toEqual(['2 words 0']);
  });
});
