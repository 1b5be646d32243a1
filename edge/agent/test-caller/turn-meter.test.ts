import { describe, expect, test } from 'vitest';
import { TurnMeter } from './turn-meter.ts';

const loud = true;
const quiet = false;

/** Time that advances in frames of 20 ms. */
class Line {
  now = 1000;
  readonly meter = new TurnMeter(1000);

  hear(voice: boolean, ms: number): this {
    for (let passed = 0; passed < ms; passed += 20) {
      this.now += 20;
      this.meter.heard(voice, this.now);
    }
    return this;
  }
}

describe('a turn', () => {
  test('measures the time to the first sound, the speech, and the pauses in it', () => {
    const line = new Line()
      .hear(quiet, 300)
      .hear(loud, 1000)
      .hear(quiet, 600)
      .hear(loud, 500)
      .hear(quiet, 1000);
    expect(line.meter.take(line.now)).toMatchObject({
      response_latency_ms: 300,
      agent_at_ms: 300,
      caller_at_ms: null,
      speech_ms: 1500,
      silence_ms: 600,
      barge_in: false,
      silent_after_ms: null,
      overlap_ms: 0,
    });
  });

  test('does not count a breath as a pause', () => {
    const line = new Line().hear(loud, 400).hear(quiet, 200).hear(loud, 400);
    expect(line.meter.agentSpeaks).toBe(true);
    line.hear(quiet, 1000);
    expect(line.meter.agentSpeaks).toBe(false);
    expect(line.meter.take(line.now)).toMatchObject({ speech_ms: 1000, silence_ms: 0 });
  });

  test('does not count a click as speech', () => {
    const line = new Line().hear(quiet, 200).hear(loud, 40).hear(quiet, 300);
    expect(line.meter.firstAt).toBeNull();
    expect(line.meter.take(line.now)).toMatchObject({ response_latency_ms: null, silence_ms: 540 });
  });

  test("is measured from the end of the caller's words", () => {
    const line = new Line().hear(loud, 500).hear(quiet, 1000);
    line.meter.take(line.now);
    line.meter.callerBegins(line.now, true);
    line.hear(quiet, 800);
    line.meter.callerEnds(line.now);
    line.hear(quiet, 240).hear(loud, 200).hear(quiet, 500);
    // The answer, 0.5 s of words and 1 s of silence; 0.8 s of the caller, and 0.24 s.
    expect(line.meter.take(line.now)).toMatchObject({
      caller_at_ms: 1500,
      agent_at_ms: 2540,
      response_latency_ms: 240,
      speech_ms: 200,
      silence_ms: 0,
      overlap_ms: 0,
      barge_in: false,
    });
  });
});

describe('keys', () => {
  test('answered while being sent count as answered at once', () => {
    const line = new Line().hear(loud, 500).hear(quiet, 1000);
    line.meter.take(line.now);
    line.hear(quiet, 2000);
    line.meter.callerBegins(line.now, false);
    line.hear(quiet, 100);
    line.meter.agentBegins();
    line.hear(loud, 500).hear(quiet, 600);
    line.meter.callerEnds(line.now);
    expect(line.meter.firstAt).not.toBeNull();
    line.hear(quiet, 400);
    expect(line.meter.take(line.now)).toMatchObject({
      response_latency_ms: 0,
      speech_ms: 500,
      silence_ms: 0,
      barge_in: false,
      silent_after_ms: null,
      overlap_ms: 0,
    });
  });

  test('are not answered by speech that began before them', () => {
    const line = new Line().hear(loud, 500).hear(quiet, 1000);
    line.meter.take(line.now);
    line.meter.agentBegins();
    line.hear(loud, 400);
    line.meter.callerBegins(line.now, false);
    line.hear(loud, 200);
    line.meter.callerEnds(line.now);
    expect(line.meter.firstAt).toBeNull();
    line.hear(quiet, 500).hear(loud, 300).hear(quiet, 1000);
    expect(line.meter.take(line.now)).toMatchObject({ response_latency_ms: 500, barge_in: true });
  });
});

describe('an interruption', () => {
  test('measures how long the agent continued, and the overlap', () => {
    const line = new Line().hear(loud, 800);
    expect(line.meter.take(line.now)).toMatchObject({ response_latency_ms: 0, speech_ms: 800 });
    line.meter.callerBegins(line.now, true);
    line.hear(loud, 300).hear(quiet, 700);
    line.meter.callerEnds(line.now);
    line.hear(quiet, 160).hear(loud, 400).hear(quiet, 1000);
    expect(line.meter.take(line.now)).toMatchObject({
      response_latency_ms: 160,
      speech_ms: 700,
      silence_ms: 0,
      barge_in: true,
      silent_after_ms: 300,
      overlap_ms: 300,
    });
  });

  test('by a key is answered by new words, however soon they follow', () => {
    const line = new Line().hear(loud, 800);
    line.meter.take(line.now);
    line.meter.callerBegins(line.now, false);
    line.hear(loud, 160);
    line.meter.callerEnds(line.now);
    line.meter.agentBegins();
    line.hear(loud, 40).hear(quiet, 100).hear(loud, 600).hear(quiet, 1000);
    expect(line.meter.take(line.now)).toMatchObject({
      response_latency_ms: 140,
      speech_ms: 600,
      barge_in: true,
      silent_after_ms: 200,
      overlap_ms: 0,
    });
  });

  test('by a key may be answered before the key has been sent', () => {
    const line = new Line().hear(loud, 800);
    line.meter.take(line.now);
    line.meter.callerBegins(line.now, false);
    line.hear(loud, 40);
    line.meter.agentBegins();
    line.hear(loud, 40).hear(quiet, 80).hear(loud, 100);
    line.meter.callerEnds(line.now);
    line.hear(loud, 400).hear(quiet, 1000);
    expect(line.meter.take(line.now)).toMatchObject({
      response_latency_ms: 0,
      speech_ms: 580,
      silence_ms: 0,
      barge_in: true,
      silent_after_ms: 80,
    });
  });

  test('ignored by the agent has no end, and continued speech is not an answer', () => {
    const line = new Line().hear(loud, 800);
    line.meter.take(line.now);
    line.meter.callerBegins(line.now, true);
    line.hear(loud, 500);
    line.meter.callerEnds(line.now);
    line.hear(loud, 2000);
    expect(line.meter.firstAt).toBeNull();
    expect(line.meter.take(line.now)).toMatchObject({
      response_latency_ms: null,
      barge_in: true,
      silent_after_ms: null,
      overlap_ms: 500,
    });
  });
});
