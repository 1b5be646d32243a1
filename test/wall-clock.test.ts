/**
 * The host's clock may be set at any time, by an hour and more. Durations and time-outs within one run of a program use
 * `clock.elapsed()`. Wall-clock time is for display, and for times that are compared with stored ones or with those of
 * other hosts. A file that calculates with it is listed here with the reason.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);

/** Folders and files whose times outlive the program or come from other hosts. */
const allowed: readonly { readonly file: string; readonly why: string }[] = [
  { file: 'edge/call/call-ledger.ts', why: 'the beginning of a call, from which its length is added' },
  { file: 'edge/engine/core/traced-messages.ts', why: 'times of messages in a trace never go back' },
  { file: 'edge/media/', why: 'its clock is monotonic on the scale of wall-clock time' },
  { file: 'edge/reporting/link.ts', why: 'control says until when a command is valid' },
  {
    file: 'edge/signaling/registration/registrations.ts',
    why: 'whether the reported end of a registration is near',
  },
  {
    file: 'edge/signaling/registration/registration.ts',
    why: 'when a registration ends, and when it is tried again, is reported',
  },
  { file: 'edge/signaling/registration/register-retries.ts', why: 'a rejection is kept over a restart' },
  { file: 'edge/signaling/admission/digest/nonces.ts', why: 'a nonce may come from another edge' },
  { file: 'edge/signaling/admission/phone/', why: 'control says until when a phone session is valid' },
  { file: 'edge/trunks/failover.ts', why: 'when an endpoint was seen is kept over a restart' },
  { file: 'control/', why: 'rows hold wall-clock times' },
  { file: 'shared/clock.ts', why: 'the clock itself' },
];

/** Calculation: addition, subtraction, or comparison. */
const reckons = [
  /(?:[cC]lock|Date)\.now\(\) *(?:[-+]|[<>]=?) ?\S/,
  /(?<![=-])(?:[-+]|[<>]=?) *[\w.#]*(?:[cC]lock|Date)\.now\(\)/,
];

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(folder, file));
}

/** Also if the time is first stored in a constant: `const now = clock.now()`. */
function reckoning(text: string): string[] {
  const names = [...text.matchAll(/(?:const|let) (\w+) = [\w.#]*(?:[cC]lock|Date)\.now\(\);/g)].map(
    ([, name]) => name,
  );
  const kept = names.flatMap((name) => [
    new RegExp(`(?<![.\\w])${name} *(?:[-+]|[<>]=?) ?[^=>\\s]`),
    new RegExp(`(?<![=-])(?:[-+]|[<>]=?) *${name}\\b(?! *[:(])`),
  ]);
  return text
    .split('\n')
    .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))
    .filter((line) => [...reckons, ...kept].some((pattern) => pattern.test(line)));
}

const files = ['shared', 'outgoing', 'edge', 'control'].flatMap(sources);

test('only stored or reported times use the wall clock', () => {
  const found = files
    .filter((file) => !allowed.some((one) => file.startsWith(one.file)))
    .flatMap((file) =>
      reckoning(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test('every listed file exists', () => {
  expect(allowed.filter(({ file }) => !files.some((each) => each.startsWith(file)))).toEqual([]);
});

test.each([
  ['const until = clock.now() + 5;', 1],
  ['if (this.#clock.now() - this.#since > limit) end();', 1],
  ['if (until <= this.#clock.now()) end();', 1],
  ['const now = clock.now();\nif (now - since > 5) end();', 1],
  ['const now = clock.now();\nif (since < now) end();', 1],
  ['const until = clock.elapsed() + 5;', 0],
  ['const at = new Date(clock.now()).toISOString();', 0],
  ['const time = () => clock.now();', 0],
  ['const now = clock.elapsed();\nif (since < now) end();', 0],
  ['// clock.now() - 5', 0],
])('%j is classified correctly', (text, count) => expect(reckoning(text)).toHaveLength(count));
