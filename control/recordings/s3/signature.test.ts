import { describe, expect, it } from 'vitest';
import { encoded, signed } from './signature.ts';

/**
 * The examples of AWS: "Authenticating Requests: Using the Authorization Header", Amazon S3 API Reference. The keys are
 * those of its text and open nothing.
 */
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const now = new Date('2013-05-24T00:00:00Z');
const signatureOf = (method: string, path: string, headers: Record<string, string> = {}, body = '') => {
  const url = new URL(`https://examplebucket.s3.amazonaws.com${path}`);
  return signed({ method, url, headers, body }, credentials, now).authorization?.split('Signature=')[1];
};

describe('the signature of a request', () => {
  it('is the one of the published examples', () => {
    expect(signatureOf('GET', '/test.txt', { range: 'bytes=0-9' })).toBe(
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    const put = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
    expect(signatureOf('PUT', '/test%24file.text', put, 'Welcome to Amazon S3.')).toBe(
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    );
    expect(signatureOf('GET', '/?lifecycle')).toBe(
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    expect(signatureOf('GET', '/?prefix=J&max-keys=2')).toBe(
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
  });

  it('encodes all but unreserved characters of a segment', () => {
    expect(encoded("a-b_c.d~e f/g+h!i'j(k)l*m$ü")).toBe('a-b_c.d~e%20f%2Fg%2Bh%21i%27j%28k%29l%2Am%24%C3%BC');
  });
});
