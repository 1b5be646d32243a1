/**
 * The typefaces of letters. Helvetica, which every reader of PDF has, knows Western European letters only (ISO 32000-1
 * annex D.2); a letter with any other carries DejaVu Sans: Latin with all its accents, Greek, Cyrillic, Armenian,
 * Georgian, Hebrew, Arabic. That costs some hundred milliseconds, so it is not done for every letter.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fontkit from '@pdf-lib/fontkit';
import { PDFDocument, type PDFFont, StandardFonts } from 'pdf-lib';

const require = createRequire(import.meta.url);
const files = {
  regular: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  bold: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
} as const;

interface Fonts {
  readonly regular: PDFFont;
  readonly bold: PDFFont;
}

/** Adds to a document the fonts for a text. Letters that neither typeface has must be replaced by the caller. */
export async function fontsFor(pdf: PDFDocument, text: string): Promise<Fonts> {
  const western = await westernLetters();
  if ([...printing(text)].every((one) => western.has(one.codePointAt(0) ?? 0))) return standardFonts(pdf);
  pdf.registerFontkit(fontkit);
  // Only the letters in use go into the file.
  const embed = (weight: keyof typeof files) => pdf.embedFont(typeface(weight), { subset: true });
  return { regular: await embed('regular'), bold: await embed('bold') };
}

/** The text as it is printed: composed, with every stretch of blanks and controls as one blank. */
export function printing(text: string): string {
  return text.normalize('NFC').replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

async function standardFonts(pdf: PDFDocument): Promise<Fonts> {
  return {
    regular: await pdf.embedFont(StandardFonts.Helvetica),
    bold: await pdf.embedFont(StandardFonts.HelveticaBold),
  };
}

let western: ReadonlySet<number> | null = null;

async function westernLetters(): Promise<ReadonlySet<number>> {
  western ??= new Set((await standardFonts(await PDFDocument.create())).regular.getCharacterSet());
  return western;
}

const read = new Map<string, Buffer>();

/** A TrueType file; read once. */
function typeface(weight: keyof typeof files): Buffer {
  const known = read.get(weight);
  if (known) return known;
  const bytes = readFileSync(files[weight]);
  read.set(weight, bytes);
  return bytes;
}
