/**
 * The typefaces of letters. Helvetica, which every PDF reader has, covers Western European letters only (ISO 32000-1
 * annex D.2). A letter with any others embeds DejaVu Sans: Latin with all accents, Greek, Cyrillic, Armenian, Georgian,
 * Hebrew, Arabic. That takes some hundred milliseconds, so not every letter does it.
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

/** Adds the fonts for a text to a document. The caller must replace letters that neither typeface has. */
export async function fontsFor(pdf: PDFDocument, text: string): Promise<Fonts> {
  const western = await westernLetters();
  if ([...printing(text)].every((one) => western.has(one.codePointAt(0) ?? 0))) return standardFonts(pdf);
  pdf.registerFontkit(fontkit);
  // Only the letters in use go into the file.
  const embed = (weight: keyof typeof files) => pdf.embedFont(typeface(weight), { subset: true });
  return { regular: await embed('regular'), bold: await embed('bold') };
}

/** The text as printed: composed, with every run of blanks and control characters as one blank. */
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
