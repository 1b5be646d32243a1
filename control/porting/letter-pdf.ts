/** The letter of authorization as a PDF of US Letter pages, signed or to be signed. */
import { PDFDocument, type PDFFont, type PDFPage, rgb } from 'pdf-lib';
import { type Letter, letterText, type SignatureFacts } from './letter-rules.ts';
import { fontsFor, printing } from './typeface.ts';

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
): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  pdf.setTitle(letter.title);
  pdf.setSubject(`Port request ${letter.requestId}`);
  pdf.setProducer('Trunkline');
  pdf.setCreator('Trunkline');
  pdf.setCreationDate(new Date(now));
  pdf.setModificationDate(new Date(now));
  const fonts = await fontsFor(pdf, `${letterText(letter)}${signature?.name}${signature?.agent}`);
  const sheet = new Sheet(pdf, fonts.regular, fonts.bold);
  writeLetter(sheet, letter);
  writeSignature(sheet, signature);
  if (sheet.substituted) sheet.write(substitutionNote, size.small);
  sheet.number(`Port request ${letter.requestId}`);
  await pdf.attach(Buffer.from(letterText(letter)), 'letter.txt', {
    mimeType: 'text/plain; charset=utf-8',
    description: 'The exact text of the letter',
    creationDate: new Date(now),
    modificationDate: new Date(now),
  });
  return pdf.save();
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
  readonly #pdf: PDFDocument;
  readonly #regular: PDFFont;
  readonly #bold: PDFFont;
  readonly #known: ReadonlySet<number>;
  #page: PDFPage;
  #y: number = page.height - page.margin;
  /** Whether a character had to be written as its code point. */
  substituted = false;

  constructor(pdf: PDFDocument, regular: PDFFont, bold: PDFFont) {
    this.#pdf = pdf;
    this.#regular = regular;
    this.#bold = bold;
    this.#known = new Set(regular.getCharacterSet());
    this.#page = pdf.addPage([page.width, page.height]);
  }

  write(text: string, fontSize: number, bold = false): void {
    const font = bold ? this.#bold : this.#regular;
    for (const line of wrapped(this.#printable(text), font, fontSize, page.width - 2 * page.margin)) {
      this.keepTogether(1);
      this.#y -= fontSize * lead;
      this.#page.drawText(line, { x: page.margin, y: this.#y, size: fontSize, font });
    }
  }

  /** A heading, never at the bottom of a page. */
  heading(text: string): void {
    this.keepTogether(4);
    this.write(text, size.heading, true);
  }

  columns(texts: readonly string[]): void {
    const width = (page.width - 2 * page.margin) / columns;
    for (let row = 0; row < texts.length; row += columns) {
      this.keepTogether(1);
      this.#y -= size.text * lead;
      for (const [column, text] of texts.slice(row, row + columns).entries()) {
        const x = page.margin + column * width;
        this.#page.drawText(this.#printable(text), { x, y: this.#y, size: size.text, font: this.#regular });
      }
    }
  }

  space(): void {
    this.#y -= size.text;
  }

  /** Starts a new page when this many lines do not fit on the current one. */
  keepTogether(lines: number): void {
    if (this.#y - lines * size.text * lead >= page.margin) return;
    this.#page = this.#pdf.addPage([page.width, page.height]);
    this.#y = page.height - page.margin;
  }

  /** Writes the footer of every page. */
  number(text: string): void {
    const pages = this.#pdf.getPages();
    for (const [index, one] of pages.entries()) {
      one.drawText(`${text}, page ${index + 1} of ${pages.length}`, {
        x: page.margin,
        y: page.margin / 2,
        size: size.small,
        font: this.#regular,
        color: rgb(0.4, 0.4, 0.4),
      });
    }
  }

  #printable(text: string): string {
    const { printable, substituted } = printableText(text, this.#known);
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

/** Lines no wider than `width`, broken at blanks, or inside words wider than a line. */
function wrapped(text: string, font: PDFFont, fontSize: number, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  const fits = (one: string) => font.widthOfTextAtSize(one, fontSize) <= width;
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
