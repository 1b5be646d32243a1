import { SpeechError, type SpeechToText } from '#shared/models/speech.ts';
import { LiveTranscription } from './live.ts';
import type { LiveDeps } from './live-deps.ts';
import type { Transcriber } from './transcription.ts';

/** Transcribes calls with the providers of `choice`; all calls know which of them has failed. */
export function createTranscriber(deps: LiveDeps): Transcriber {
  return { open: (options, events) => new LiveTranscription(options, events, deps) };
}

/** Transcribes whole utterances through a live transcription: for audio that is already complete. */
export function wholeUtterances(transcriber: Transcriber): SpeechToText {
  return {
    transcribe: (samples, { sampleRate, language, keyTerms = [] }) =>
      new Promise((resolve, reject) => {
        if (sampleRate !== 8000 && sampleRate !== 16_000)
          throw new SpeechError(`no audio at ${sampleRate} Hz`);
        let failure: Error | null = null;
        const transcription = transcriber.open(
          { sampleRate, language, keyTerms },
          {
            partial: () => undefined,
            turn: () => undefined,
            failed: (error) => {
              failure = error;
            },
            final: ({ text }) => {
              transcription.close();
              if (failure) reject(new SpeechError(failure.message, { cause: failure }));
              else resolve(text);
            },
          },
        );
        transcription.begin();
        const frame = sampleRate / 50;
        for (let at = 0; at < samples.length; at += frame)
          transcription.write(samples.subarray(at, at + frame));
        transcription.end();
      }),
  };
}
