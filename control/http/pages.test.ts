import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/kit/any-character.ts';
import { fitPage, pageBytes, readPage, shareOf } from './pages.ts';

const omittable = { text: null, list: [], 'draft.prompt': null } as const;
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('a page', () => {
  it('shows items that fit completely, without mentioning omissions', () => {
    const items = [{ id: 'a', text: 'x', list: [1], draft: { prompt: 'p', name: 'n' } }];
    expect(fitPage(items, omittable)).toEqual(items);
  });

  it('omits only the largest parts of an item, and names them', () => {
    const large = 'x'.repeat(pageBytes / 2);
    const items = [
      { id: 'a', text: large, list: ['y'.repeat(90_000)], draft: { prompt: 'p', name: 'n' } },
      { id: 'b', text: 'small', list: [1], draft: { prompt: large, name: 'n' } },
      { id: 'c', text: 'small', list: [], draft: null },
    ];
    expect(fitPage(items, omittable)).toEqual([
      { ...items[0], text: null, omitted: ['text'] },
      { ...items[1], draft: { prompt: null, name: 'n' }, omitted: ['draft.prompt'] },
      items[2],
    ]);
  });

  it('never exceeds the page size, whatever texts its items have', async () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 400 }).map((one) => one.repeat(200));
    const item = fc.record({
      text,
      list: fc.array(text, { maxLength: 3 }),
      draft: fc.record({ prompt: text }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 40 }), async (items) => {
        const page = await readPage(items, omittable, async (one) => ({ item: one }));
        expect(bytes(page)).toBeLessThanOrEqual(pageBytes + items.length + 2);
        for (const [index, one] of page.entries()) {
          if (bytes(items[index]) <= shareOf(items.length) - 2) expect(one).toEqual(items[index]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('names what the database left out, and skips deleted items', async () => {
    const page = await readPage(['a', 'b', 'c'], omittable, async (id) =>
      id === 'b' ? undefined : { item: { id, text: null }, cut: id === 'c' ? ['text'] : [] },
    );
    expect(page).toEqual([
      { id: 'a', text: null },
      { id: 'c', text: null, omitted: ['text'] },
    ]);
  });
});
