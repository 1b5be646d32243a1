import { describe, expect, it } from 'vitest';
import { hasSameTelephone, telephoneOf } from './called.ts';

const from = '+14155550100';

describe('the telephone that rings', () => {
  it.each([
    'sip:desk@pbx.example.com',
    'SIPS:desk@PBX.example.com',
    'sip:desk@pbx.example.com:5071;transport=tls',
    'sip:desk;phone-context=1@pbx.example.com;x=2',
    'sip:%64esk@pbx.example.com',
    'sip:DESK@pbx.example.com',
  ])('is one, however its URI is written: %s', (to) => {
    expect(telephoneOf({ from, to })).toBe('sip:desk@pbx.example.com');
  });

  it('is a number for everybody, and an extension behind one trunk', () => {
    const other = '+14155550101';
    expect(telephoneOf({ from, to: '+14155550199' })).toBe(telephoneOf({ from: other, to: '+14155550199' }));
    expect(telephoneOf({ from, to: '100' })).not.toBe(telephoneOf({ from: other, to: '100' }));
  });

  it('is proven again behind another trunk, when it is an extension', () => {
    const other = '+14155550101';
    expect(hasSameTelephone({ from, to: '100' }, { from, to: '100' })).toBe(true);
    expect(hasSameTelephone({ from, to: '100' }, { from: other, to: '100' })).toBe(false);
    expect(hasSameTelephone({ from, to: '+14155550199' }, { from: other, to: '+14155550199' })).toBe(true);
    expect(hasSameTelephone({ from, to: '+14155550199' }, { from, to: '+14155550198' })).toBe(false);
    expect(hasSameTelephone({ from: null, to: null }, { from, to: '100' })).toBe(false);
    expect(hasSameTelephone({ from: null, to: null }, { from: null, to: null })).toBe(true);
  });
});
