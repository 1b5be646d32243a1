import { expect, it } from 'vitest';
import { keyTermsOf, mostKeyTerms } from './key-terms.ts';

it("has a call's own terms before its organization's, each once", () => {
  expect(keyTermsOf(['Ada', 'trunkline'], ['Trunkline', 'ADA', 'Bo'])).toEqual(['Ada', 'trunkline', 'Bo']);
});

it('has no more terms than servers take', () => {
  const many = (name: string) => Array.from({ length: mostKeyTerms }, (_, i) => `${name}${i}`);
  const terms = keyTermsOf(many('own'), many('org'));
  expect(terms).toEqual(many('own'));
});
