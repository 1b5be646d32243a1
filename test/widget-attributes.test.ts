/** The texts of a visitor's call, and their table in docs/widgets.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { textsOf } from '../console/visitor-phone/texts.ts';

it('takes the texts of the script element, and its own where that has none', () => {
  const texts = textsOf({ callLabel: 'Anrufen', callMuteLabel: '' });
  expect([texts.callLabel, texts.callMuteLabel]).toEqual(['Anrufen', 'Mute']);
});

it('has an attribute in the table for each text, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'widgets.md'), 'utf8');
  const documented = new Set([...page.matchAll(/`(data-call-[a-z-]+)`/g)].map(([, name]) => name));
  const attributes = Object.keys(textsOf({})).map(
    (name) => `data-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
  expect([...documented].sort()).toEqual(attributes.sort());
});
