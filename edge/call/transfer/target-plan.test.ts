import { describe, expect, it } from 'vitest';
import type { CodecName } from '#shared/codecs.ts';
import { route } from '../../../test/kit/fakes/fake-hunt.ts';
import { codecsFor } from './target-plan.ts';

const over = (codecs: CodecName[]) => ({ ...route, codecs });

describe('the codecs offered to a transfer target', () => {
  it.each<[CodecName | null, CodecName[], boolean, CodecName[]]>([
    ['PCMA', ['PCMU', 'PCMA'], false, ['PCMA']],
    ['PCMA', ['PCMU', 'PCMA'], true, ['PCMA', 'PCMU']],
    ['Opus', ['PCMU', 'PCMA'], true, ['PCMU', 'PCMA']],
    ['G.722', [], false, ['G.722']],
    ['G.722', [], true, ['G.722', 'PCMU', 'PCMA', 'Opus']],
    [null, ['PCMA', 'PCMU'], false, ['PCMA', 'PCMU']],
  ])('beside %s over a record with %j (transcode %s) is %j', (codec, codecs, transcode, offered) => {
    expect(codecsFor(codec, over(codecs), transcode)).toEqual(offered);
  });

  it('are none when the record lists another codec and may not transcode', () => {
    expect(() => codecsFor('Opus', over(['PCMU']), false)).toThrow(
      expect.objectContaining({ sipStatus: 488 }),
    );
  });
});
