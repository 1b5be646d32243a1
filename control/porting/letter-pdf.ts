/** The letter of authorization as a PDF of US Letter pages, signed or to be signed. */
import { finished } from 'node:stream/promises';
import PDFDocument from 'pdfkit';
import { type Letter, letterText, type SignatureFacts } from './letter-rules.ts';
import { type Fonts, fontsFor, printing } from './typeface.ts';

/** Points; 72 to the inch. */
const page = { width: 612, height: 792, margin: 56 } as const;
const size = { title: 16, heading: 11, text: 10, small: 8 } as const;
const lead = 1.4;
const columns = 4;

/** Characters missing in its typeface are written as code points; the exact text is attached to the PDF. */
const substitutionNote =
  'Characters that this typeface does not have are written as [U+code point]; the exact text is in the attached letter.txt.';

/** @param signature null: an unsigned letter @param now ms, the PDF's date */
export async function letterPdf(
  letter: Letter,
  signature: SignatureFacts | null,
  now: number,
): Promise<Buffer> {
  const date = new Date(now);
  const info = {
    Title: letter.title,
    Subject: `Port request ${letter.requestId}`,
    Producer: 'Trunkline',
    Creator: 'Trunkline',
    CreationDate: date,
    ModDate: date,
  };
  // Pages stay in memory until the footer, which has their number, is on each.
  const pdf = new PDFDocument({ autoFirstPage: false, bufferPages: true, info });
  const parts: Buffer[] = [];
  pdf.on('data', (part: Buffer) => parts.push(part));
  const written = finished(pdf);
  const fonts = fontsFor(`${letterText(letter)}${signature?.name}${signature?.agent}`);
  const sheet = new Sheet(pdf, fonts);
  writeLetter(sheet, letter);
  writeSignature(sheet, signature);
  if (sheet.substituted) sheet.write(substitutionNote, size.small);
  sheet.number(`Port request ${letter.requestId}`);
  pdf.file(Buffer.from(letterText(letter)), {
    name: 'letter.txt',
    type: 'text/plain; charset=utf-8',
    description: 'The exact text of the letter',
    creationDate: date,
    modifiedDate: date,
  });
  pdf.end();
  await written;
  return Buffer.concat(parts);
}

function writeLetter(sheet: Sheet, letter: Letter): void {
  sheet.write(letter.title, size.title, true);
  sheet.write(`Date ${letter.date}`, size.text);
  for (const block of letter.blocks) {
    sheet.space();
    switch (block.kind) {
      case 'paragraph':
        sheet.write(block.text, size.text);
        break;
      case 'facts':
        sheet.heading(block.heading);
        for (const [name, value] of block.facts) sheet.write(`${name}: ${value}`, size.text);
        break;
      case 'numbers':
        sheet.heading(block.heading);
        sheet.columns(block.numbers);
    }
  }
}

function writeSignature(sheet: Sheet, signature: SignatureFacts | null): void {
  sheet.space();
  sheet.keepTogether(9);
  sheet.heading('Signature');
  if (!signature) {
    sheet.write('Not signed yet.', size.text);
    return;
  }
  sheet.write(`Signed electronically by ${signature.name}`, size.text, true);
  sheet.write(`Time: ${signature.at}`, size.text);
  sheet.write(`Network address: ${signature.address}`, size.text);
  sheet.write(`Program: ${signature.agent}`, size.small);
  sheet.write('Consent: the signer agreed to sign electronically.', size.small);
  sheet.write(`SHA-256 of the letter as it was shown: ${signature.hash}`, size.small);
}

/** Text from the top of a page down, on as many pages as needed. */
class Sheet {
  readonly #pdf: PDFKit.PDFDocument;
  readonly #fonts: Fonts;
  /** Baseline of the last line, in points from the top of the page. */
  #y = 0;
  /** Whether a character had to be written as its code point. */
  substituted = false;

  constructor(pdf: PDFKit.PDFDocument, fonts: Fonts) {
    this.#pdf = pdf;
    this.#fonts = fonts;
    this.#addPage();
  }

  write(text: string, fontSize: number, bold = false): void {
    this.#pdf.font(bold ? this.#fonts.bold : this.#fonts.regular).fontSize(fontSize);
    const fits = (one: string) => this.#pdf.widthOfString(one) <= page.width - 2 * page.margin;
    for (const line of wrapped(this.#printable(text), fits)) {
      this.keepTogether(1);
      this.#y += fontSize * lead;
      this.#line(line, page.margin, this.#y);
    }
  }

  /** A heading, never at the bottom of a page. */
  heading(text: string): void {
    this.keepTogether(4);
    this.write(text, size.heading, true);
  }

  columns(texts: readonly string[]): void {
    const width = (page.width - 2 * page.margin) / columns;
    this.#pdf.font(this.#fonts.regular).fontSize(size.text);
    for (let row = 0; row < texts.length; row += columns) {
      this.keepTogether(1);
      this.#y += size.text * lead;
      for (const [column, text] of texts.slice(row, row + columns).entries()) {
        this.#line(this.#printable(text), page.margin + column * width, this.#y);
      }
    }
  }

  space(): void {
    this.#y += size.text;
  }

  /** Starts a new page when this many lines do not fit on the current one. */
  keepTogether(lines: number): void {
    if (this.#y + lines * size.text * lead > page.height - page.margin) this.#addPage();
  }

  /** Writes the footer of every page. */
  number(text: string): void {
    const { count } = this.#pdf.bufferedPageRange();
    for (let index = 0; index < count; index++) {
      this.#pdf.switchToPage(index);
      this.#pdf.font(this.#fonts.regular).fontSize(size.small).fillColor('#666666');
      this.#line(`${text}, page ${index + 1} of ${count}`, page.margin, page.height - page.margin / 2);
    }
  }

  /** Writes one line, its baseline at `y` points from the top. */
  #line(text: string, x: number, y: number): void {
    this.#pdf.text(text, x, y, { lineBreak: false, baseline: 'alphabetic' });
  }

  #addPage(): void {
    this.#pdf.addPage({ size: [page.width, page.height], margin: 0 });
    this.#y = page.margin;
  }

  #printable(text: string): string {
    const { printable, substituted } = printableText(text, this.#fonts.known);
    this.substituted ||= substituted;
    return printable;
  }
}

/**
 * The text in characters of a typeface: an accent that it lacks is dropped, any other missing character is written as
 * its code point.
 */
export function printableText(
  text: string,
  known: ReadonlySet<number>,
): { readonly printable: string; readonly substituted: boolean } {
  let substituted = false;
  const isKnown = (part: string) => [...part].every((one) => known.has(one.codePointAt(0) ?? 0));
  const characters = [...printing(text)];
  const printable = characters.map((character) => {
    if (isKnown(character)) return character;
    const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
    substituted = true;
    if (plain !== '' && isKnown(plain)) return plain;
    return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
  });
  return { printable: printable.join(''), substituted };
}

/** Lines that fit, broken at blanks, or inside words wider than a line. */
function wrapped(text: string, fits: (line: string) => boolean): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (!fits(line)) {
      const part = longestPart(line, fits);
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  return [...lines, line];
}

function longestPart(word: string, fits: (text: string) => boolean): string {
  let [least, most] = [1, word.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(word.slice(0, middle))) least = middle;
    else most = middle - 1;
  }
  return word.slice(0, least);
}
