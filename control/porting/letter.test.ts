import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/kit/any-character.ts';
import { pdfText } from '../../test/kit/control/porting.ts';
import { signPage } from './letter-page.ts';
import { letterPdf, printableText } from './letter-pdf.ts';
import { type LetterFacts, letterHash, letterOf, letterText } from './letter-rules.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'letter-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const now = Date.UTC(2030, 0, 1);

function facts(
  more: Partial<LetterFacts['information']> = {},
  numbers = ['+14155550100', '+14155550101'],
): LetterFacts {
  return {
    requestId: 'port_1',
    date: '2030-01-01',
    organization: 'Own',
    information: {
      customer_type: 'business',
      business_name: 'Acme Inc.',
      first_name: 'Ada',
      last_name: 'Lovelace',
      authorized_representative_email: 'ada@example.com',
      account_number: 'AC-1',
      account_telephone_number: '+14155550109',
      notification_emails: [],
      address: { street: '1 Main St', street2: null, city: 'Reno', state: 'NV', zip: '89501', country: 'US' },
      ...more,
    },
    numbers,
    targetDate: '2030-01-15',
  };
}

function pagesOf(pdf: Uint8Array): number {
  const file = join(folder, 'pages.pdf');
  writeFileSync(file, pdf);
  return Number(/^Pages: +(\d+)$/m.exec(execFileSync('pdfinfo', [file], { encoding: 'utf8' }))?.[1]);
}

/** Name, type and whether it is embedded, a line for each typeface. */
function fontsOf(pdf: Uint8Array): string[] {
  const file = join(folder, 'fonts.pdf');
  writeFileSync(file, pdf);
  return execFileSync('pdffonts', [file], { encoding: 'utf8' }).split('\n').slice(2, -1).sort();
}

const signature = {
  name: 'ada lovelace',
  at: '2030-01-02T10:00:00.000Z',
  address: '198.51.100.7',
  agent: 'a browser',
  hash: 'ab'.repeat(32),
};

describe('the PDF of a letter', () => {
  it('has everything that the losing carrier needs, as a PDF reader shows it', async () => {
    const text = pdfText(folder, await letterPdf(letterOf(facts()), signature, now));
    for (const line of [
      'Letter of Authorization for Number Porting',
      'Business name: Acme Inc.',
      'Authorized representative: Ada Lovelace',
      'Account number: AC-1',
      'Billing telephone number: +14155550109',
      'Street: 1 Main St',
      'ZIP code: 89501',
      'Earliest port date: 2030-01-15',
      'Telephone numbers to be ported (2)',
      'Signed electronically by ada lovelace',
      'Time: 2030-01-02T10:00:00.000Z',
      'Network address: 198.51.100.7',
      `SHA-256 of the letter as it was shown: ${'ab'.repeat(32)}`,
      'Port request port_1, page 1 of 1',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/\+14155550100 +\+14155550101/);
  });

  it('says that it is not signed yet', async () => {
    expect(pdfText(folder, await letterPdf(letterOf(facts()), null, now))).toContain('Not signed yet.');
  });

  it('continues over pages with 50 numbers and long values, and loses none', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => `+1415555${String(1000 + index)}`);
    const long = { business_name: 'Word '.repeat(40).trim(), account_number: 'x'.repeat(64) };
    const address = {
      street: 'W'.repeat(200),
      street2: 'y'.repeat(200),
      city: 'z'.repeat(100),
      state: 's'.repeat(100),
    };
    const info = { ...long, address: { ...address, zip: '1'.repeat(20), country: 'US' } };
    const bytes = await letterPdf(
      letterOf(facts(info, numbers)),
      { ...signature, agent: 'a'.repeat(512) },
      now,
    );
    const text = pdfText(folder, bytes);
    for (const number of numbers) expect(text).toContain(number);
    const pages = pagesOf(bytes);
    expect(pages).toBeGreaterThan(1);
    expect(text).toContain(`page ${pages} of ${pages}`);
  });

  it.each([
    ['Łukasz', 'Żółć'],
    ['Ōsaka', 'Đặng'],
    ['Иван', 'Петрович'],
    ['Ελένη', 'Παπαδοπούλου'],
    ['Zoë', 'Núñez'],
    // Ligatures of the typeface are still the original letters.
    ['Geoffrey', 'Suffield'],
  ])(
    'has the name %s %s as it is written, in the text and in the signature',
    async (first_name, last_name) => {
      const letter = letterOf(facts({ first_name, last_name }));
      const text = pdfText(
        folder,
        await letterPdf(letter, { ...signature, name: `${first_name} ${last_name}` }, now),
      );
      expect(text).toContain(`Authorized representative: ${first_name} ${last_name}`);
      expect(text).toContain(`I, ${first_name} ${last_name}, am authorized`);
      expect(text).toContain(`Signed electronically by ${first_name} ${last_name}`);
      expect(text).not.toContain('U+');
    },
  );

  it('has a name in decomposed form with its accents', async () => {
    const text = pdfText(
      folder,
      await letterPdf(letterOf(facts({ last_name: 'Nu\u0301n\u0303ez' })), null, now),
    );
    expect(text).toContain('Ada Núñez');
  });

  it('embeds a typeface only for letters that not every reader has, and only the used ones', async () => {
    const western = await letterPdf(letterOf(facts({ last_name: 'Núñez' })), signature, now);
    expect(fontsOf(western).map((line) => line.split(' ')[0])).toEqual(['Helvetica', 'Helvetica-Bold']);
    const bytes = await letterPdf(letterOf(facts({ last_name: 'Иванов' })), null, now);
    expect(fontsOf(bytes).map((line) => /^([A-Z]{6}\+)?DejaVuSans\S* .*Identity-H +yes/.test(line))).toEqual([
      true,
      true,
    ]);
    expect(bytes.length).toBeLessThan(100_000);
  });

  it('writes scripts that its typeface lacks as code points, says so, and attaches the exact text', async () => {
    const letter = letterOf(
      facts({ business_name: 'Łódź Ščerba 株式会社 𠮷', first_name: 'Zoë', last_name: 'Núñez' }),
    );
    const bytes = await letterPdf(letter, null, now);
    const text = pdfText(folder, bytes);
    expect(text).toContain('Łódź Ščerba');
    expect(text).toContain('Business name:');
    expect(text).toContain('[U+682A][U+5F0F][U+4F1A][U+793E] [U+20BB7]');
    expect(text).toContain('the exact text is in the attached letter.txt');
    const file = join(folder, 'attached.pdf');
    writeFileSync(file, bytes);
    execFileSync('pdfdetach', ['-save', '1', '-o', join(folder, 'letter.txt'), file]);
    expect(readFileSync(join(folder, 'letter.txt'), 'utf8')).toBe(letterText(letter));
  });

  it('is created for any text, and attaches it letter for letter', async () => {
    // One letter with many texts, because each page costs a typeface, which takes most of the time.
    const texts = fc.sample(fc.string({ unit: anyCharacter, maxLength: 200 }), 40);
    const letter = letterOf(facts({ business_name: texts.join(' '), account_number: texts.at(-1) ?? '' }));
    const bytes = await letterPdf(letter, { ...signature, agent: texts.join('|') }, now);
    const file = join(folder, 'whatever.pdf');
    writeFileSync(file, bytes);
    execFileSync('pdfdetach', ['-save', '1', '-o', join(folder, 'whatever.txt'), file]);
    expect(readFileSync(join(folder, 'whatever.txt'))).toEqual(Buffer.from(letterText(letter)));
    expect(pdfText(folder, bytes)).toContain('Letter of Authorization for Number Porting');
  });
});

describe('printable text', () => {
  const known = new Set([...'abc eE'].map((one) => one.codePointAt(0) ?? 0));
  it.each([
    ['abc', 'abc', false],
    ['a\n\tb', 'a b', false],
    ['é', 'e', true],
    ['ж', '[U+0436]', true],
  ])('of %j is %j', (text, printable, substituted) => {
    expect(printableText(text, known)).toEqual({ printable, substituted });
  });

  it('has no character that the typeface lacks, except as a code point, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const { printable } = printableText(text, known);
        for (const one of printable.replaceAll(/\[U\+[0-9A-F]{4,6}\]/g, ''))
          expect(known).toContain(one.codePointAt(0));
      }),
    );
  });
});

describe('the text of a letter', () => {
  it('has no line forged by a value', () => {
    const letter = letterOf(facts({ account_number: '1\nZIP code: 0' }));
    expect(letterText(letter)).toContain('Account number: 1 ZIP code: 0\n');
  });

  it('has another hash when anything in it changes', () => {
    expect(letterHash(letterOf(facts()))).not.toBe(letterHash(letterOf(facts({}, ['+14155550100']))));
  });
});

describe('the page', () => {
  it('escapes values, whatever they contain', () => {
    const evil = "\"><script>alert(1)</script><a href='x'>`";
    const page = signPage(letterOf(facts({ business_name: evil })), evil, evil);
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<a ');
    expect(page.match(/&#34;&#62;&#60;script&#62;/g)?.length).toBeGreaterThanOrEqual(4);
  });
});
