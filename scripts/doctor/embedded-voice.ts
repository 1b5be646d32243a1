/** The embedded voice, which an edge loads for the first text that it speaks. */

import { fliteFile } from '#shared/models/flite.ts';
import { checkProgram } from '#shared/models/program-file.ts';
import { startCommand } from '#shared/own-command.ts';
import { type Check, type Finding, failed, ok, warning } from './check.ts';
import { reasonOf } from './reason.ts';
import { ofEdge } from './with-settings.ts';

/** @param hasServer whether a server speaks, and the embedded voice only when that fails */
export function voiceFinding(file: () => string, hasServer: boolean): Finding {
  try {
    const path = file();
    checkProgram(path);
    return ok(`${path} is complete`);
  } catch (error) {
    const found = `the program of the embedded voice cannot be read: ${reasonOf(error)}`;
    const advice = `install the packages again (${startCommand()}, or the Debian package); a running edge tries again with the next text`;
    return hasServer ? warning(found, advice) : failed(found, advice);
  }
}

export const voiceChecks: readonly Check[] = [
  {
    name: 'speech.embedded_voice',
    program: 'edge',
    about:
      'The program of the embedded voice is there and complete. An edge loads it for the first text that it speaks.',
    bad: 'It is missing or cut: without `TTS_BASE_URL` calls whose agents speak are rejected, with it (a warning) no voice speaks when the server fails.',
    run: ofEdge(({ tts }) => voiceFinding(fliteFile, tts !== null)),
  },
];
